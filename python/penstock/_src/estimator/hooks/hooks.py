"""Hooks that evaluate while a model is trained, and that stop workers."""
import time

from penstock._src.estimator import estimator as estimator_lib
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import state_ops
from penstock._src.training import basic_session_run_hooks
from penstock._src.training import monitored_session
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util


class InMemoryEvaluatorHook(session_run_hook.SessionRunHook):
    """Evaluates the model as it is in memory: at the beginning, every so many steps, and at the end."""

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = estimator_lib._check_hooks_type(hooks) + estimator._convert_eval_steps_to_hooks(steps)
        self._timer = basic_session_run_hooks.SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self):
        self._timer.reset()
        self._iter_count = 0
        self._graph = ops.Graph()
        with self._graph.as_default():
            self._scaffold, self._update_op, self._eval_dict, self._all_hooks = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None)
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._eval_variables = {v.name: v for v in ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)}
            self._placeholders = {name: array_ops.placeholder(v.dtype) for name, v in self._eval_variables.items()}

    def after_create_session(self, session, coord):
        if ops.get_collection(ops.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        trained = {v.name: v for v in ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)}
        self._train_variables = {name: v for name, v in trained.items() if name in self._placeholders}
        with self._graph.as_default():
            self._feed_op = control_flow_ops.group([
                state_ops.assign(self._eval_variables[name], self._placeholders[name])
                for name in self._train_variables])
        self._evaluate(session)

    def _evaluate(self, train_session):
        values = train_session.run(self._train_variables)
        feeds = {self._placeholders[name]: value for name, value in values.items()}

        def feed_variables(scaffold, session):
            session.run(self._feed_op, feed_dict=feeds)

        scaffold = monitored_session.Scaffold(init_fn=feed_variables, copy_from_scaffold=self._scaffold)
        with self._graph.as_default():
            self._estimator._evaluate_run(checkpoint_path=None, scaffold=scaffold, update_op=self._update_op,
                                          eval_dict=self._eval_dict, all_hooks=self._all_hooks,
                                          output_dir=self._eval_dir)
        self._timer.update_last_triggered_step(self._iter_count)

    def after_run(self, run_context, run_values):
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session):
        self._evaluate(session)


class _StopAtCheckpointStepHook(session_run_hook.SessionRunHook):
    """Waits until the chief has saved the last step, and stops."""

    def __init__(self, model_dir, last_step, wait_after_file_check_secs=30):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_after_file_check_secs = wait_after_file_check_secs

    def begin(self):
        self._global_step_tensor = training_util._get_or_create_global_step_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 < self._last_step:
            return
        if estimator_lib._load_global_step_from_checkpoint_dir(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_after_file_check_secs)


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """Stops the chief at a step, and the others when it has saved that."""
    if estimator.config.is_chief:
        return basic_session_run_hooks.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(model_dir=estimator.model_dir, last_step=last_step,
                                     wait_after_file_check_secs=wait_after_file_check_secs)
