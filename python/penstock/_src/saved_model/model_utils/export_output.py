"""What an exported model gives, as a signature."""
import abc

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.ops.state import variables
from penstock._src.saved_model import signature_def_utils_impl as signature_def_utils


class ExportOutput(abc.ABC):
    """One kind of answer of an exported model."""

    _SEPARATOR_CHAR = "/"

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors):
        """The signature with these inputs; ValueError if they do not fit."""

    def _check_output_key(self, key, error_label):
        # Keys of several heads are pairs.
        if isinstance(key, tuple):
            key = self._SEPARATOR_CHAR.join(key)
        if not isinstance(key, str):
            raise ValueError("{} output key must be a string; got {}.".format(error_label, key))
        return key

    def _wrap_and_check_outputs(self, outputs, single_output_default_name, error_label=None):
        """The outputs as a dict of tensors."""
        if not isinstance(outputs, dict):
            outputs = {single_output_default_name: outputs}
        label = error_label or single_output_default_name
        checked = {}
        for key, value in outputs.items():
            key = self._check_output_key(key, label)
            if not isinstance(value, ops.Tensor):
                raise ValueError("{} output value must be a Tensor; got {}.".format(label, value))
            checked[key] = value
        return checked


def _examples(receiver_tensors, kind):
    """The only input, which must be of strings."""
    message = "{} input must be a single string Tensor; got {}".format(kind, receiver_tensors)
    if len(receiver_tensors) != 1:
        raise ValueError(message)
    (examples,) = receiver_tensors.values()
    if dtypes.as_dtype(examples.dtype) != dtypes.string:
        raise ValueError(message)
    return examples


class ClassificationOutput(ExportOutput):
    """Classes (strings), scores, or both."""

    def __init__(self, scores=None, classes=None):
        if scores is not None and not (isinstance(scores, ops.Tensor) and scores.dtype.is_floating):
            raise ValueError("Classification scores must be a float32 Tensor; got {}".format(scores))
        if classes is not None and not (isinstance(classes, ops.Tensor) and
                                        dtypes.as_dtype(classes.dtype) == dtypes.string):
            raise ValueError("Classification classes must be a string Tensor; got {}".format(classes))
        if scores is None and classes is None:
            raise ValueError("Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and "
                             "`classes` must be defined.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self):
        """[batch, classes], or None."""
        return self._scores

    @property
    def classes(self):
        """Names of the classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors):
        examples = _examples(receiver_tensors, "Classification")
        return signature_def_utils.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A number for each example."""

    def __init__(self, value):
        if not (isinstance(value, ops.Tensor) and value.dtype.is_floating):
            raise ValueError("Regression output value must be a float32 Tensor; got {}".format(value))
        self._value = value

    @property
    def value(self):
        """The numbers."""
        return self._value

    def as_signature_def(self, receiver_tensors):
        return signature_def_utils.regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Any tensors."""

    _SINGLE_OUTPUT_DEFAULT_NAME = "output"

    def __init__(self, outputs):
        self._outputs = self._wrap_and_check_outputs(outputs, self._SINGLE_OUTPUT_DEFAULT_NAME,
                                                     error_label="Prediction")

    @property
    def outputs(self):
        """Names to tensors."""
        return self._outputs

    def as_signature_def(self, receiver_tensors):
        return signature_def_utils.predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"

    def __init__(self, loss=None, predictions=None, metrics=None):
        self._loss = self._prefixed(loss, self.LOSS_NAME)
        self._predictions = self._prefixed(predictions, self.PREDICTIONS_NAME)
        self._metrics = None if metrics is None else self._wrap_and_check_metrics(metrics)

    def _prefixed(self, outputs, name):
        if outputs is None:
            return None
        checked = self._wrap_and_check_outputs(outputs, name)
        return {self._prefix_key(key, name): value for key, value in checked.items()}

    def _prefix_key(self, key, name):
        return key if key.startswith(name) else name + self._SEPARATOR_CHAR + key

    def _wrap_and_check_metrics(self, metrics):
        if not isinstance(metrics, dict):
            metrics = {self.METRICS_NAME: metrics}
        outputs = {}
        for key, metric in metrics.items():
            if isinstance(metric, tuple):
                value, update = metric
            else:  # a metric object
                value, (update,) = metric.result(), metric.updates
            key = self._prefix_key(self._check_output_key(key, self.METRICS_NAME), self.METRICS_NAME)
            if not isinstance(value, ops.Tensor):
                raise ValueError("{} output value must be a Tensor; got {}.".format(key, value))
            if isinstance(update, variables.Variable):  # of a metric of Keras
                update = ops.convert_to_tensor(update)
            if not isinstance(update, (ops.Tensor, ops.Operation)):
                raise ValueError("{} update_op must be a Tensor or Operation; got {}.".format(key, update))
            if isinstance(update, ops.Operation):
                # A signature names tensors only.
                with ops.control_dependencies([update]):
                    update = constant_op.constant([], name="metric_op_wrapper")
            outputs[key + self._SEPARATOR_CHAR + self.METRIC_VALUE_SUFFIX] = value
            outputs[key + self._SEPARATOR_CHAR + self.METRIC_UPDATE_SUFFIX] = update
        return outputs

    @property
    def loss(self):
        """Names to tensors, or None."""
        return self._loss

    @property
    def predictions(self):
        """Names to tensors, or None."""
        return self._predictions

    @property
    def metrics(self):
        """Names to tensors, or None."""
        return self._metrics

    @abc.abstractmethod
    def _get_signature_def_fn(self):
        """What makes the signature of inputs and the parts."""

    def as_signature_def(self, receiver_tensors):
        return self._get_signature_def_fn()(receiver_tensors, self.loss, self.predictions, self.metrics)


class TrainOutput(_SupervisedOutput):
    """A step of training."""

    def _get_signature_def_fn(self):
        return signature_def_utils.supervised_train_signature_def


class EvalOutput(_SupervisedOutput):
    """A step of evaluation."""

    def _get_signature_def_fn(self):
        return signature_def_utils.supervised_eval_signature_def
