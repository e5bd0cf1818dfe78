"""tf.contrib.learn.Experiment: training and evaluation of an estimator, and when each is done."""
import collections
import inspect
import math
import os
import time

from penstock._src.estimator import estimator as estimator_lib
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock._src.training import basic_session_run_hooks as hooks_lib
from penstock._src.checkpoint import checkpoint_management
from penstock._src.session import server_lib
from penstock._src.training import session_run_hook
from penstock._src.base import compat

_WAIT_OF_WORKERS = 5  # seconds between the starts of two workers,
_LONGEST_WAIT = 60  # at most


def _accepts(function, name):
    return name in inspect.signature(function).parameters


class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A name and a function (estimator, export_path[, checkpoint_path][, eval_result][, strip_default_attrs])."""

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Calls the function with those of the arguments that it takes; ValueError if one that is given is not."""
        kwargs = {}
        for name, value in (("checkpoint_path", checkpoint_path), ("eval_result", eval_result),
                            ("strip_default_attrs", self.strip_default_attrs)):
            if _accepts(self.export_fn, name):
                kwargs[name] = value
            elif name == "checkpoint_path" and value:
                raise ValueError("An export_fn accepting checkpoint_path must be provided.")
        return self.export_fn(estimator, export_path, **kwargs)


class _EvaluateNewCheckpoints(session_run_hook.SessionRunHook):
    """Evaluates each checkpoint that training writes, looking for one every few steps."""

    def __init__(self, model_dir, evaluate, every_n_steps, check_interval_secs):
        self._model_dir, self._evaluate = model_dir, evaluate
        self._steps = hooks_lib.SecondOrStepTimer(every_steps=every_n_steps)
        self._seconds, self._looked, self._last = check_interval_secs, 0., None
        self._step = 0

    def after_run(self, run_context, run_values):
        self._step += 1
        if not self._steps.should_trigger_for_step(self._step) or time.time() - self._looked < self._seconds:
            return
        self._steps.update_last_triggered_step(self._step)
        self._looked = time.time()
        latest = checkpoint_management.latest_checkpoint(self._model_dir)
        if latest is not None and latest != self._last:
            self._last = latest
            self._evaluate()


class _EvaluateAndExport(hooks_lib.CheckpointSaverListener):
    """Evaluates and exports each checkpoint when it has been written."""

    def __init__(self, experiment):
        self._experiment = experiment
        self.eval_result = self.export_results = None

    def after_save(self, session, global_step_value):
        latest = checkpoint_management.latest_checkpoint(self._experiment.estimator.model_dir)
        if latest:
            self.eval_result = self._experiment._evaluate(checkpoint_path=latest)
            self.export_results = self._experiment._export(self.eval_result, checkpoint_path=latest)


class Experiment:
    """An estimator with the data and the length of its training and its evaluation.

    Args:
      estimator: A tf.estimator.Estimator; ValueError for anything else.
      train_input_fn, eval_input_fn: As of its `train` and `evaluate`.
      eval_metrics: None.
      train_steps, eval_steps: How many; None for as long as there is input.
      train_monitors, eval_hooks: Lists of hooks.
      eval_delay_secs, continuous_eval_throttle_secs: How long evaluation waits, at first and between two.
      min_eval_frequency: Steps between two looks for a new checkpoint while training; 0: not before its end.
      delay_workers_by_global_step: Whether later workers wait for a step rather than a time.
      export_strategies: An ExportStrategy or a list of these.
      train_steps_per_iteration: Of continuous_train_and_eval.
      checkpoint_and_export: Whether each checkpoint is evaluated and exported when it is written.
      saving_listeners: As of the estimator's `train`.
      check_interval_secs: The least time between two looks for a new checkpoint.
    """

    def __init__(self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
                 export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False,
                 saving_listeners=None, check_interval_secs=5):
        if not isinstance(estimator, estimator_lib.Estimator):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
        if eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                             "`tf.estimator.EstimatorSpec` instead.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._train_steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._check_interval_secs = check_interval_secs
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self):
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self):
        """None: the estimator has its own."""
        return None

    @property
    def train_steps(self):
        """How many steps training has in all, or None."""
        return self._train_steps

    @property
    def eval_steps(self):
        """How many steps an evaluation has, or None."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks to training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies=None):
        """Sets the export strategies and returns those that were. ValueError if one is no ExportStrategy."""
        old = getattr(self, "_export_strategies", ())
        new = new_export_strategies or ()
        new = (new,) if isinstance(new, ExportStrategy) else tuple(new)
        for strategy in new:
            if not isinstance(strategy, ExportStrategy):
                raise ValueError("`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or "
                                 "`None`, found %s." % (strategy,))
        self._export_strategies = new
        return old

    def train(self, delay_secs=None):
        """Trains up to `train_steps`; workers but the first wait, by default longer the higher their number."""
        extra = []
        if delay_secs is None:
            task = self._estimator.config.task_id or 0
            delay_secs = min(_LONGEST_WAIT, task * _WAIT_OF_WORKERS)
            if self._delay_workers_by_global_step:
                extra, delay_secs = [hooks_lib.GlobalStepWaiterHook(int(8000.0 * math.log(task + 1)))], 0
        self._wait(delay_secs, "training")
        return self._estimator.train(self._train_input_fn, max_steps=self._train_steps,
                                     hooks=self._train_monitors + extra, saving_listeners=self._saving_listeners)

    def evaluate(self, delay_secs=None, name=None):
        """Evaluates the latest checkpoint, by default after `eval_delay_secs`."""
        self._wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        return self._evaluate(name=name or "one_pass")

    def train_and_evaluate(self):
        """Trains, evaluating new checkpoints on the way, then evaluates and exports: (metrics, exports)."""
        config = self._estimator.config
        monitors = self._train_monitors
        listener = None
        if self._checkpoint_and_export and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            listener = _EvaluateAndExport(self)
            added = [hooks_lib.CheckpointSaverHook(
                self._estimator.model_dir, save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps, listeners=[listener])]
        else:
            added = [_EvaluateNewCheckpoints(self._estimator.model_dir, self._evaluate, self._min_eval_frequency,
                                             self._check_interval_secs)] if self._min_eval_frequency else []
        self._train_monitors = monitors + added
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = monitors
        if listener is not None:
            return listener.eval_result, listener.export_results
        result = self._evaluate()
        return result, self._export(result)

    def local_run(self):
        """train_and_evaluate with `local_eval_frequency`."""
        usual, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = usual

    def continuous_eval(self, delay_secs=None, throttle_delay_secs=None, evaluate_checkpoint_only_once=True,
                        continuous_eval_predicate_fn=None, name="continuous"):
        """Evaluates and exports checkpoint after checkpoint until training has ended or the predicate,
        (metrics[, checkpoint_path]) -> bool, says no more."""
        self._continuous_eval(self._eval_input_fn, name, delay_secs, throttle_delay_secs,
                              evaluate_checkpoint_only_once, continuous_eval_predicate_fn, export=True)

    def continuous_eval_on_train_data(self, delay_secs=None, throttle_delay_secs=None,
                                      continuous_eval_predicate_fn=None, name="continuous_on_train_data"):
        """As continuous_eval, on the training data and without exports."""
        self._continuous_eval(self._train_input_fn, name, delay_secs, throttle_delay_secs, True,
                              continuous_eval_predicate_fn, export=False)

    def _continuous_eval(self, input_fn, name, delay_secs, throttle_secs, only_once, predicate, export):
        goes_on = _predicate(predicate)
        self._wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        if throttle_secs is None:
            throttle_secs = self._continuous_eval_throttle_secs
        result, previous = None, None
        while goes_on(result, previous) and not self._has_ended(result):
            start = time.time()
            latest = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
            if not latest or only_once and latest == previous:
                logging.log_every_n(logging.WARN, "There is no new checkpoint to be evaluated.", 10)
                result = {}
            else:
                result = self._evaluate(input_fn, name, latest) or {}
                if export:
                    self._export(result, checkpoint_path=latest)
                previous = latest
            time.sleep(max(0, throttle_secs - (time.time() - start)))

    def _has_ended(self, result):
        step = (result or {}).get(ops.GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains `train_steps_per_iteration` steps (a tenth of all, or 1000) and evaluates, again and again."""
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        result, exports, latest = None, None, None
        while goes_on(result, latest if result else None) and not self._has_ended(result):
            self._estimator.train(self._train_input_fn, steps=steps, hooks=self._train_monitors,
                                  saving_listeners=self._saving_listeners)
            latest = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
            result = self._evaluate(name="one_pass", checkpoint_path=latest)
            exports = self._export(result)
        return result, exports

    def test(self):
        """One step of training, one of evaluation, and an export: the metrics."""
        self._estimator.train(self._train_input_fn, steps=1, hooks=self._train_monitors,
                              saving_listeners=self._saving_listeners)
        result = self._estimator.evaluate(self._eval_input_fn, steps=1, name="one_pass")
        self._export(result)
        return result

    def run_std_server(self):
        """Starts a server for this task of the cluster and waits for ever. ValueError if TF_CONFIG names no task."""
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None or not config.master:
            raise ValueError("Could not start server; be sure to specify cluster_spec, task_type, master, and task in "
                             "RunConfig or set the TF_CONFIG environment variable.")
        server_lib.Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
                          config=getattr(config, "tf_config", None)).join()

    def _evaluate(self, input_fn=None, name=None, checkpoint_path=None):
        return self._estimator.evaluate(input_fn or self._eval_input_fn, steps=self._eval_steps, name=name,
                                        checkpoint_path=checkpoint_path, hooks=self._eval_hooks)

    def _export(self, result, checkpoint_path=None):
        base = os.path.join(compat.as_bytes(self._estimator.model_dir), b"export")
        return [strategy.export(self._estimator, os.path.join(base, compat.as_bytes(strategy.name)),
                                checkpoint_path=checkpoint_path, eval_result=result)
                for strategy in self._export_strategies]

    @staticmethod
    def _wait(seconds, what):
        if seconds:
            logging.info("Waiting %d secs before starting %s.", seconds, what)
            time.sleep(seconds)


def _predicate(given):
    if given is None:
        return lambda result, checkpoint_path: True
    if not callable(given):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if _accepts(given, "checkpoint_path"):
        return lambda result, checkpoint_path: given(result, checkpoint_path=checkpoint_path)
    return lambda result, checkpoint_path: given(result)
