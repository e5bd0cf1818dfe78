"""Exporters: when `train_and_evaluate` exports a model."""
import abc
import os

from penstock._src.estimator import gc
from penstock._src.estimator import model_fn
from penstock._src.estimator import util
from penstock._src.graph import ops
from penstock._src.files import gfile
from penstock._src.base import tf_logging
from penstock._src.summary import summary_iterator


class Exporter(abc.ABC):
    """Exports a model, or not, after an evaluation."""

    @property
    @abc.abstractmethod
    def name(self):
        """Names the directory of its exports."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Gives the directory of what it exported, or None."""


class _SavedModelExporter(Exporter):
    """Exports always."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self):
        return self._name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return estimator.export_saved_model(export_path, self._serving_input_receiver_fn,
                                            assets_extra=self._assets_extra, as_text=self._as_text,
                                            checkpoint_path=checkpoint_path)


def _check_exports_to_keep(exports_to_keep):
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError("`exports_to_keep`, if provided, must be a positive number. Got {}".format(exports_to_keep))


def _loss_smaller(best_eval_result, current_eval_result):
    """Whether the loss became smaller."""
    for name, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or model_fn.LOSS_METRIC_KEY not in result:
            raise ValueError("%s cannot be empty or no loss is found in it." % name)
    return best_eval_result[model_fn.LOSS_METRIC_KEY] > current_eval_result[model_fn.LOSS_METRIC_KEY]


def _verify_compare_fn_args(compare_fn):
    args, wanted = set(util.fn_args(compare_fn)), ("best_eval_result", "current_eval_result")
    for name in wanted:
        if name not in args:
            raise ValueError("compare_fn (%s) must include %s argument." % (compare_fn, name))
    unknown = list(args - set(wanted))
    if unknown:
        raise ValueError("compare_fn (%s) has following not expected args: %s" % (compare_fn, unknown))


class BestExporter(Exporter):
    """Exports when `compare_fn(best_eval_result, current_eval_result)` says that the model is better than ever."""

    def __init__(self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
                 compare_fn=_loss_smaller, assets_extra=None, as_text=False, exports_to_keep=5):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _verify_compare_fn_args(compare_fn)
        _check_exports_to_keep(exports_to_keep)
        self._compare_fn = compare_fn
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir = None
        self._best_eval_result = None
        self._exports_to_keep = exports_to_keep

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            # A training that goes on knows what the one before it reached.
            tf_logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._get_best_eval_result(
                os.path.join(self._model_dir, self._event_file_pattern))
        if self._best_eval_result is not None and not self._compare_fn(
                best_eval_result=self._best_eval_result, current_eval_result=eval_result):
            return None
        tf_logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        result = self._saved_model_exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                                   is_the_final_export)
        gc.delete_old_exports(export_path, self._exports_to_keep)
        return result

    def _get_best_eval_result(self, event_files):
        best = None
        for event_file in gfile.Glob(event_files):
            for event in summary_iterator.summary_iterator(event_file):
                result = {value.tag: value.simple_value for value in event.summary.value
                          if value.HasField("simple_value")}
                if result and (best is None or self._compare_fn(best, result)):
                    best = result
        return best


class FinalExporter(Exporter):
    """Exports at the end."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        tf_logging.info("Performing the final export in the end of training.")
        return self._saved_model_exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                                 is_the_final_export)


class LatestExporter(Exporter):
    """Exports after each evaluation and keeps the newest exports."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_exports_to_keep(exports_to_keep)
        self._exports_to_keep = exports_to_keep

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        result = self._saved_model_exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                                   is_the_final_export)
        gc.delete_old_exports(export_path, self._exports_to_keep)
        return result


class StepsExporter(Exporter):
    """Exports at the first evaluation at or behind each of some steps, and keeps these exports."""

    def __init__(self, steps_to_keep, name="steps_exporter", serving_input_receiver_fn=None,
                 event_file_pattern="eval/*.tfevents.*", assets_extra=None, as_text=False):
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir = None
        self._steps_to_keep = sorted(step for step in steps_to_keep if isinstance(step, int) and step > 0)
        if not self._steps_to_keep:
            raise ValueError("`steps_to_keep` list must have at least one positive integer")
        if len(self._steps_to_keep) != len(steps_to_keep):
            tf_logging.warning("Changed `steps_to_keep`, by omitting non-integer or less than 1 elements, to %s",
                               self._steps_to_keep)

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not eval_result or ops.GraphKeys.GLOBAL_STEP not in eval_result:
            raise ValueError("`eval_result` is empty, or does not have global step. Got eval_result: %s" % eval_result)
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            tf_logging.info("Loads the steps that the model was already evaluated at, from event files")
            self._model_dir = estimator.model_dir
            done = max(self._evaluated_steps(os.path.join(self._model_dir, self._event_file_pattern)), default=0)
            self._steps_to_keep = [step for step in self._steps_to_keep if step > done]
        now = eval_result[ops.GraphKeys.GLOBAL_STEP]
        reached = [step for step in self._steps_to_keep if step <= now]
        if not reached:
            return None
        self._steps_to_keep = [step for step in self._steps_to_keep if step > now]
        if reached != [now]:
            tf_logging.warning("Missed steps %s for exporting, as no evaluation took place at them.",
                               [step for step in reached if step != now])
        tf_logging.info("Performing model export at step %d.", now)
        return self._saved_model_exporter.export(estimator, export_path, checkpoint_path, eval_result,
                                                 is_the_final_export)

    @staticmethod
    def _evaluated_steps(event_files):
        return {event.step for path in gfile.Glob(event_files)
                for event in summary_iterator.summary_iterator(path)}
