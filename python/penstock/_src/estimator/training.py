"""train_and_evaluate: training with evaluations and exports in between, on one machine or as a task of a cluster."""
import collections
import json
import os
import time

from penstock._src.estimator import estimator as estimator_lib
from penstock._src.estimator import exporter as exporter_lib
from penstock._src.estimator import run_config as run_config_lib
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock._src.training import basic_session_run_hooks
from penstock._src.session import server_lib
from penstock._src.training import session_run_hook
from penstock._src.base import compat

_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_TaskType = run_config_lib.TaskType
_TRAINER_JOBS = (_TaskType.CHIEF, _TaskType.MASTER, _TaskType.WORKER)


def _validate_input_fn(input_fn):
    if not callable(input_fn):
        raise TypeError("`input_fn` must be callable, given: {}".format(input_fn))


def _validate_hooks(hooks):
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, session_run_hook.SessionRunHook):
            raise TypeError("All hooks must be `SessionRunHook` instances, given: {}".format(hook))
    return hooks


def _validate_exporters(exporters):
    if not exporters:
        return ()
    if isinstance(exporters, exporter_lib.Exporter):
        exporters = [exporters]
    wrong = TypeError("`exporters` must be an Exporter, an iterable of Exporter, or `None`, found %s." % exporters)
    try:
        exporters = tuple(exporters)
    except TypeError:
        raise wrong from None
    if not all(isinstance(exporter, exporter_lib.Exporter) for exporter in exporters):
        raise wrong
    names = [exporter.name for exporter in exporters]
    for name in names:
        if not name:
            raise ValueError("An Exporter cannot have a name that is `None` or empty. All exporter names: {}".format(
                names))
        if not isinstance(name, str):
            raise ValueError("An Exporter must have a string name. Given: {}".format(type(name)))
    if len(set(names)) != len(names):
        raise ValueError("`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                         "{}".format(names))
    return exporters


class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """How to train: the input, up to which step, hooks."""

    def __new__(cls, input_fn, max_steps=None, hooks=None):
        _validate_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError("Must specify max_steps > 0, given: {}".format(max_steps))
        return super().__new__(cls, input_fn=input_fn, max_steps=max_steps, hooks=_validate_hooks(hooks))


class EvalSpec(
        collections.namedtuple("EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs",
                                            "throttle_secs"])):
    """How to evaluate: the input, for how many steps, exporters; not within `throttle_secs` of the last time."""

    def __new__(cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120,
                throttle_secs=600):
        _validate_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: {}".format(steps))
        if name is not None and not isinstance(name, str):
            raise TypeError("`name` must be string, given: {}".format(name))
        if start_delay_secs < 0:
            raise ValueError("Must specify start_delay_secs >= 0, given: {}".format(start_delay_secs))
        if throttle_secs < 0:
            raise ValueError("Must specify throttle_secs >= 0, given: {}".format(throttle_secs))
        return super().__new__(cls, input_fn=input_fn, steps=steps, name=name, hooks=_validate_hooks(hooks),
                               exporters=_validate_exporters(exporters), start_delay_secs=start_delay_secs,
                               throttle_secs=throttle_secs)


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains, and evaluates and exports after checkpoints; on one machine gives the last metrics and exports.

    In a cluster (TF_CONFIG) it does what this process's task is.
    """
    _assert_eval_spec(eval_spec)
    executor = _TrainingExecutor(estimator=estimator, train_spec=train_spec, eval_spec=eval_spec)
    config = estimator.config
    if config.task_type == _TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError("For distributed training, there can only be one `evaluator` task (with task id 0).  Given "
                         "task id {}".format(config.task_id))
    logging.info("Not using Distribute Coordinator.")
    return executor.run()


class _NewCheckpointListenerForEvaluate(basic_session_run_hooks.CheckpointSaverListener):
    """Evaluates after a checkpoint was saved."""

    def __init__(self, evaluator, eval_throttle_secs, continuous_eval_listener):
        self._evaluator = evaluator
        self._eval_throttle_secs = eval_throttle_secs
        self._continuous_eval_listener = continuous_eval_listener
        self.eval_result, self.export_results = None, None

    def begin(self):
        self._timer = basic_session_run_hooks.SecondOrStepTimer(every_secs=self._eval_throttle_secs)
        self._is_first_run = True

    def after_save(self, session, global_step_value):
        # The first checkpoint is that of a model that has not been trained here.
        if self._is_first_run:
            self._is_first_run = False
            return None
        if not self._continuous_eval_listener.before_eval():
            logging.info("Exiting training and evaluation loop, as requested by _ContinuousEvalListener.before_eval.")
            return True
        if not self._timer.should_trigger_for_step(global_step_value):
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._eval_throttle_secs)
            return None
        self._evaluate(global_step_value)
        if not self._continuous_eval_listener.after_eval(self.eval_result):
            logging.info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return True
        return None

    def end(self, session, global_step_value):
        if global_step_value != self._timer.last_triggered_step() and self._continuous_eval_listener.before_eval():
            self._evaluate(global_step_value)
            self._continuous_eval_listener.after_eval(self.eval_result)

    def _evaluate(self, global_step_value):
        self._timer.update_last_triggered_step(global_step_value)
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != _EvalStatus.EVALUATED:
            raise RuntimeError("There was no new checkpoint after the training. Eval status: {}".format(
                self.eval_result.status))


class _TrainingExecutor:
    """Does what a task of a cluster, or a process alone, has to do."""

    def __init__(self, estimator, train_spec, eval_spec, train_hooks=None, continuous_eval_listener=None):
        if not isinstance(estimator, estimator_lib.Estimator):
            raise TypeError("`estimator` must have type `tf.estimator.Estimator`. Got: {}".format(type(estimator)))
        if not isinstance(train_spec, TrainSpec):
            raise TypeError("`train_spec` must have type `tf.estimator.TrainSpec`. Got: {}".format(type(train_spec)))
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError("`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: {}".format(
                type(eval_spec)))
        if continuous_eval_listener and not isinstance(continuous_eval_listener, _ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec = eval_spec
        self._train_hooks = _validate_hooks(train_hooks)
        self._continuous_eval_listener = continuous_eval_listener or _ContinuousEvalListener()

    @property
    def estimator(self):
        """The estimator."""
        return self._estimator

    def run(self):
        """Does this process's task."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != _TaskType.EVALUATOR:
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError("`estimator.config` must have task_type set. This usually means TF_CONFIG environment is "
                             "not set correctly.")
        tasks = {_TaskType.CHIEF: self.run_chief, _TaskType.WORKER: self.run_worker, _TaskType.MASTER: self.run_master,
                 _TaskType.EVALUATOR: self.run_evaluator, _TaskType.PS: self.run_ps}
        if config.task_type not in tasks:
            raise ValueError("Task type {} is not supported. Supported task types are {}".format(
                config.task_type, sorted(tasks)))
        return tasks[config.task_type]()

    def run_chief(self):
        """Trains."""
        self._start_distributed_training()

    def run_worker(self):
        """Trains."""
        self._start_distributed_training()

    def run_master(self):
        """Trains and evaluates."""
        _assert_eval_spec(self._eval_spec)
        self._start_distributed_training(saving_listeners=[self._listener(_ContinuousEvalListener())])

    def run_evaluator(self):
        """Evaluates checkpoints that others write."""
        self._start_continuous_evaluation()

    def run_ps(self):
        """Keeps variables."""
        self._start_std_server(self._estimator.config).join()

    def run_local(self):
        """Trains and evaluates; gives the last metrics and exports."""
        _assert_eval_spec(self._eval_spec)
        config = self._estimator.config
        logging.info("Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
                     "frequency is determined based on RunConfig arguments: save_checkpoints_steps %s or "
                     "save_checkpoints_secs %s.", config.save_checkpoints_steps, config.save_checkpoints_secs)
        listener = self._listener(self._continuous_eval_listener)
        self._train([listener])
        result = listener.eval_result or _EvalResult(status=_EvalStatus.MISSING_CHECKPOINT)
        return result.metrics, listener.export_results

    def _train(self, saving_listeners):
        self._estimator.train(
            input_fn=self._train_spec.input_fn, max_steps=self._train_spec.max_steps,
            hooks=list(self._train_spec.hooks) + list(self._train_hooks), saving_listeners=saving_listeners)

    def _evaluator(self):
        return _TrainingExecutor._Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def _listener(self, continuous_eval_listener):
        return _NewCheckpointListenerForEvaluate(self._evaluator(), self._eval_spec.throttle_secs,
                                                 continuous_eval_listener)

    def _start_std_server(self, config):
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError("Could not start server; be sure to specify cluster_spec, task_type, and task in "
                               "RunConfig or set the TF_CONFIG environment variable.")
        if not config.master:
            jobs = config.cluster_spec.jobs
            alone = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
            if alone and config.task_type in _TRAINER_JOBS:
                logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")
                return None
            raise RuntimeError("Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
                               "environment variable.")
        logging.info("Start Tensorflow server.")
        gpu_options = None if config.session_config is None else config.session_config.gpu_options
        server = server_lib.Server(
            config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
            config=config_pb2.ConfigProto(log_device_placement=False, gpu_options=gpu_options), start=False,
            protocol=config.protocol)
        server.start()
        return server

    def _start_distributed_training(self, saving_listeners=None):
        config = self._estimator.config
        # Somebody else may have started it.
        if json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") != "google":
            self._start_std_server(config)
        if config.task_type == _TaskType.WORKER:
            # The chief initializes; workers come one after the other.
            most = config.experimental_max_worker_delay_secs
            delay = min(_MAX_DELAY_SECS if most is None else int(most), (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
            if delay > 0:
                logging.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        self._train(saving_listeners)

    def _start_continuous_evaluation(self):
        """Evaluates until the model has been trained up to `max_steps`, or a listener wants to stop."""
        _assert_eval_spec(self._eval_spec)
        if self._eval_spec.start_delay_secs:
            logging.info("Waiting %f secs before starting eval.", self._eval_spec.start_delay_secs)
            time.sleep(self._eval_spec.start_delay_secs)
        evaluator, result, stop = self._evaluator(), None, False
        while not stop:
            if result and result.status == _EvalStatus.EVALUATED:
                step, most = result.metrics.get(ops.GraphKeys.GLOBAL_STEP), self._train_spec.max_steps
                if step and most and step >= most:
                    logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, most)
                    return
            result, stop = self._execute_evaluator_once(evaluator, self._continuous_eval_listener,
                                                        self._eval_spec.throttle_secs)

    def _execute_evaluator_once(self, evaluator, continuous_eval_listener, throttle_secs):
        _assert_eval_spec(self._eval_spec)
        start = time.time()
        if not continuous_eval_listener.before_eval():
            logging.info("Exiting evaluation, as requested by _ContinuousEvalListener.before_eval.")
            return None, True
        result, _ = evaluator.evaluate_and_export()
        if not self._continuous_eval_listener.after_eval(result):
            logging.info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
            return result, True
        rest = throttle_secs - (time.time() - start)
        if rest > 0:
            logging.info("Waiting %f secs before starting next eval run.", rest)
            time.sleep(rest)
        elif throttle_secs == 0 and result.status != _EvalStatus.EVALUATED:
            logging.warning("EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) "
                            "new checkpoint. Please consider to increase it.")
        return result, False

    class _Evaluator:
        """Evaluates each checkpoint once, and lets exporters export it."""

        def __init__(self, estimator, eval_spec, max_training_steps):
            _assert_eval_spec(eval_spec)
            self._estimator = estimator
            self._eval_spec = eval_spec
            self._is_final_export_triggered = False
            self._previous_ckpt_path = None
            self._last_warning_time = 0
            self._max_training_steps = max_training_steps

        @property
        def is_final_export_triggered(self):
            """Whether the export at the end was made."""
            return self._is_final_export_triggered

        def evaluate_and_export(self):
            """Gives an _EvalResult, and what each exporter gave."""
            path = self._estimator.latest_checkpoint()
            if not path:
                self._log_err_msg("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
                return _EvalResult(status=_EvalStatus.MISSING_CHECKPOINT), []
            if path == self._previous_ckpt_path:
                self._log_err_msg("No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                                  "evaluation results are expected to be same for the same checkpoint.")
                return _EvalResult(status=_EvalStatus.NO_NEW_CHECKPOINT), []
            spec = self._eval_spec
            metrics = self._estimator.evaluate(input_fn=spec.input_fn, steps=spec.steps, name=spec.name,
                                               checkpoint_path=path, hooks=spec.hooks)
            result = _EvalResult(status=_EvalStatus.EVALUATED, metrics=metrics, checkpoint_path=path)
            most = self._max_training_steps
            is_final = bool(most) and metrics[ops.GraphKeys.GLOBAL_STEP] >= most
            exports = self._export_eval_result(result, is_final)
            self._is_final_export_triggered = self._is_final_export_triggered or is_final
            self._last_warning_time = 0
            self._previous_ckpt_path = path
            return result, exports

        def _log_err_msg(self, message):
            now = time.time()
            if now - self._last_warning_time > 600:
                logging.warning(message)
                self._last_warning_time = now

        def _export_eval_result(self, eval_result, is_the_final_export):
            base = os.path.join(compat.as_str_any(self._estimator.model_dir), "export")
            return [exporter.export(estimator=self._estimator, export_path=os.path.join(base, exporter.name),
                                    checkpoint_path=eval_result.checkpoint_path, eval_result=eval_result.metrics,
                                    is_the_final_export=is_the_final_export) for exporter in self._eval_spec.exporters]


class _EvalStatus:
    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class _EvalResult(collections.namedtuple("EvalResult", ["status", "metrics", "checkpoint_path"])):
    """How an evaluation went; metrics and checkpoint if it took place."""

    def __new__(cls, status, metrics=None, checkpoint_path=None):
        if status != _EvalStatus.EVALUATED:
            if metrics or checkpoint_path:
                raise ValueError("metrics and checkpoint_path must be `None` if status is not {}; got status {}, "
                                 "metrics {}, checkpoint_path {}".format(_EvalStatus.EVALUATED, status, metrics,
                                                                         checkpoint_path))
        elif not metrics:
            raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
        elif not isinstance(metrics, dict):
            raise TypeError("`Estimator.evaluate` should return dict. Given {}.".format(type(metrics)))
        elif ops.GraphKeys.GLOBAL_STEP not in metrics:
            raise ValueError("Internal error: `Estimator.evaluate` result should have `global_step` in result. Given "
                             "{}".format(metrics))
        elif not checkpoint_path:
            raise ValueError("Internal error: `checkpoint_path` should never be empty.")
        return super().__new__(cls, status, metrics, checkpoint_path)


class _ContinuousEvalListener:
    """May stop evaluations."""

    def before_eval(self):
        """Whether to evaluate."""
        return True

    def after_eval(self, eval_result):
        """Whether to go on."""
        return True


def _assert_eval_spec(eval_spec):
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError("`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {}".format(type(eval_spec)))
