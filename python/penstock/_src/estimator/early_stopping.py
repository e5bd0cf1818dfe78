"""Hooks that stop a training when evaluations say so."""
import collections
import operator
import os

from penstock._src.estimator import estimator as estimator_lib
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.files import gfile
from penstock._src.base import tf_logging
from penstock._src.summary import summary_iterator
from penstock._src.training import basic_session_run_hooks
from penstock._src.training import session_run_hook
from penstock._src.checkpoint import training_util


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """A hook that stops all workers when `should_stop_fn()`, called now and then, is true."""
    if not isinstance(estimator, estimator_lib.Estimator):
        raise TypeError("`estimator` must have type `tf.estimator.Estimator`. Got: {}".format(type(estimator)))
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


def stop_if_higher_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                        run_every_steps=None):
    """Stops when a metric is greater than `threshold`."""
    return _threshold_hook(estimator, metric_name, threshold, operator.gt, "greater than", eval_dir, min_steps,
                           run_every_secs, run_every_steps)


def stop_if_lower_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                       run_every_steps=None):
    """Stops when a metric is less than `threshold`."""
    return _threshold_hook(estimator, metric_name, threshold, operator.lt, "less than", eval_dir, min_steps,
                           run_every_secs, run_every_steps)


def stop_if_no_increase_hook(estimator, metric_name, max_steps_without_increase, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    """Stops when a metric has not become greater for so many steps."""
    return _improvement_hook(estimator, metric_name, max_steps_without_increase, operator.gt, "increase", eval_dir,
                             min_steps, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(estimator, metric_name, max_steps_without_decrease, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    """Stops when a metric has not become less for so many steps."""
    return _improvement_hook(estimator, metric_name, max_steps_without_decrease, operator.lt, "decrease", eval_dir,
                             min_steps, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir):
    """{step: {name: value}} of the evaluations of a directory, by step."""
    found = collections.defaultdict(dict)
    for event in _summaries(eval_dir):
        if event.HasField("summary"):
            metrics = {value.tag: value.simple_value for value in event.summary.value
                       if value.HasField("simple_value")}
            if metrics:
                found[event.step].update(metrics)
    return collections.OrderedDict(sorted(found.items()))


def _summaries(eval_dir):
    if gfile.Exists(eval_dir):
        for path in gfile.Glob(os.path.join(eval_dir, "events.out.tfevents.*")):
            yield from summary_iterator.summary_iterator(path)


def _values(eval_dir, metric_name, min_steps):
    """Pairs of step and value."""
    return [(step, metrics[metric_name]) for step, metrics in read_eval_metrics(eval_dir).items() if step >= min_steps]


def _threshold_hook(estimator, metric_name, threshold, is_better, relation, eval_dir, min_steps, run_every_secs,
                    run_every_steps):
    eval_dir = estimator.eval_dir() if eval_dir is None else eval_dir

    def stop_if_threshold_crossed_fn():
        for step, value in _values(eval_dir, metric_name, min_steps):
            if is_better(value, threshold):
                tf_logging.info('At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for '
                                "early stopping.", step, metric_name, value, relation, threshold)
                return True
        return False

    return make_early_stopping_hook(estimator, stop_if_threshold_crossed_fn, run_every_secs, run_every_steps)


def _improvement_hook(estimator, metric_name, max_steps, is_better, what, eval_dir, min_steps, run_every_secs,
                      run_every_steps):
    eval_dir = estimator.eval_dir() if eval_dir is None else eval_dir

    def stop_if_no_metric_improvement_fn():
        best = best_step = None
        for step, value in _values(eval_dir, metric_name, min_steps):
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                tf_logging.info('No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) '
                                "configured for early stopping.", what, metric_name, step - best_step, max_steps)
                return True
        return False

    return make_early_stopping_hook(estimator, stop_if_no_metric_improvement_fn, run_every_secs, run_every_steps)


def _get_or_create_stop_var():
    """The variable through which the chief tells workers to stop."""
    with variable_scope.variable_scope("signal_early_stopping", values=[], reuse=variable_scope.AUTO_REUSE):
        return variable_scope.get_variable(
            name="STOP", shape=[], dtype=dtypes.bool, initializer=init_ops.constant_initializer(False),
            collections=[ops.GraphKeys.GLOBAL_VARIABLES], trainable=False)


class _StopOnPredicateHook(session_run_hook.SessionRunHook):
    """Asks a function whether to stop."""

    def __init__(self, should_stop_fn, run_every_secs=60, run_every_steps=None):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = basic_session_run_hooks.SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self):
        self._global_step_tensor = training_util.get_global_step()
        self._stop_op = state_ops.assign(_get_or_create_stop_var(), True)

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            tf_logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _CheckForStoppingHook(session_run_hook.SessionRunHook):
    """Stops when the chief says so."""

    def begin(self):
        self._stop_var = _get_or_create_stop_var()

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._stop_var)

    def after_run(self, run_context, run_values):
        if run_values.results:
            tf_logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
