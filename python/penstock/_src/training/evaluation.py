"""Evaluating a checkpoint once: what estimators and tf.contrib.training are built on."""
import math
import time

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import tf_logging as logging
from penstock._src.training import basic_session_run_hooks
from penstock._src.training import monitored_session
from penstock._src.training import session_run_hook


def _get_or_create_eval_step():
    """The local variable that counts evaluations."""
    found = ops.get_default_graph().get_collection(ops.GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return variable_scope.get_variable(
        "eval_step", shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(), trainable=False,
        collections=[ops.GraphKeys.LOCAL_VARIABLES, ops.GraphKeys.EVAL_STEP])


def _get_latest_eval_step_value(update_ops):
    """Its value after the updates."""
    with ops.control_dependencies(list(update_ops.values()) if isinstance(update_ops, dict) else update_ops):
        return array_ops.identity(_get_or_create_eval_step().read_value())


class _CountingHook(session_run_hook.SessionRunHook):
    """Fetches the number of evaluations."""

    _evals_completed = None

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs({"evals_completed": self._evals_completed})

    def _log(self, completed):
        if self._num_evals is None:
            logging.info("Evaluation [%d]", completed)
        else:
            logging.info("Evaluation [%d/%d]", completed, self._num_evals)


class _MultiStepStopAfterNEvalsHook(_CountingHook):
    """Stops after a number of evaluations, of which one run makes several."""

    def __init__(self, num_evals, steps_per_run=1):
        self._num_evals = num_evals
        self._steps_per_run_initial_value = steps_per_run

    def begin(self):
        self._steps_per_run_variable = basic_session_run_hooks.get_or_create_steps_per_run_variable()

    def _load_steps(self, completed, session):
        steps = self._steps_per_run_initial_value
        if self._num_evals is not None:
            steps = min(self._num_evals - completed, steps)
        self._steps_per_run_variable.load(steps, session=session)

    def after_create_session(self, session, coord):
        self._load_steps(0, session)

    def after_run(self, run_context, run_values):
        completed = run_values.results["evals_completed"]
        self._load_steps(completed, run_context.session)
        self._log(completed)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


class _StopAfterNEvalsHook(_CountingHook):
    """Stops after a number of evaluations."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals = num_evals
        self._log_progress = log_progress
        # Ten lines at most.
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10.)

    def after_run(self, run_context, run_values):
        completed = run_values.results["evals_completed"]
        if self._log_progress and (self._num_evals is None or completed % self._log_frequency == 0 or
                                   completed == self._num_evals):
            self._log(completed)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


def _evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                   final_ops_feed_dict=None, hooks=None, config=None):
    """Restores a checkpoint, runs `eval_ops` until a hook or the end of the input stops it, and gives `final_ops`."""
    eval_step = _get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        if any(isinstance(hook, _MultiStepStopAfterNEvalsHook) for hook in hooks):
            steps = basic_session_run_hooks.get_or_create_steps_per_run_variable()
            update = state_ops.assign_add(eval_step, math_ops.cast(steps, dtype=eval_step.dtype), use_locking=True)
        else:
            update = state_ops.assign_add(eval_step, 1, use_locking=True)
        if isinstance(eval_ops, dict):
            eval_ops["update_eval_step"] = update
        elif isinstance(eval_ops, (tuple, list)):
            eval_ops = list(eval_ops) + [update]
        else:
            eval_ops = [eval_ops, update]
        value = _get_latest_eval_step_value(eval_ops)
        for hook in hooks:
            if isinstance(hook, _CountingHook):
                hook._set_evals_completed_tensor(value)
    logging.info("Starting evaluation at " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = monitored_session.ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config)
    final_ops_hook = basic_session_run_hooks.FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final_ops_hook)
    with monitored_session.MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final_ops_hook.final_ops_values
