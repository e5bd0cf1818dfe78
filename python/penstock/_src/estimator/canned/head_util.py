"""Checks of labels, weights and logits, and metrics, that heads share."""
from penstock._src.feature_column import feature_column
from penstock._src.feature_column import feature_column_v2
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_counts, metrics_means
from penstock._src.ops.metrics import weights_broadcast_ops
from penstock._src.base import function_utils


def require_labels(labels):
    """ValueError if there are no labels."""
    if labels is None:
        raise ValueError("You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that "
                         "your data contain your label feature. Check that your input_fn properly parses and returns "
                         "labels.")


def check_dense_labels(labels, logits, expected_labels_dimension):
    """The labels in the shape of the logits, with the last dimension that is expected; with checks at run time."""
    require_labels(labels)
    size = expected_labels_dimension
    with ops.name_scope(None, "labels", (labels, logits)) as scope:
        labels = sparse_tensor.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, sparse_tensor.SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, %s], e.g. "
                "[batch_size, %s]. Suggested Fix (1): Check the label feature in your data. Each example must contain "
                "%s value(s). If not, your choice of label was probably incorrect. Suggested Fix (2): In your "
                "input_fn, use tf.sparse_tensor_to_dense() to turn labels into a Tensor." % (size, size, size))
        if None not in (labels.shape.ndims, logits.shape.ndims) and labels.shape.ndims == logits.shape.ndims - 1:
            labels = array_ops.expand_dims(labels, -1)
        labels_shape = array_ops.shape(labels)
        logits_shape = array_ops.shape(logits)
        message = ("labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: check your n_classes argument to the "
                   "estimator and/or the shape of your label.".format(size))
        with ops.control_dependencies([check_ops.assert_rank_at_least(labels, 2, message=message)]):
            if labels.shape.ndims is not None and labels.shape.as_list()[-1] not in (None, size):
                raise ValueError(
                    "Mismatched label shape. Expected labels dimension=%s.  Received %s. Suggested Fix:If your "
                    "classifier expects one-hot encoding label,check your n_classes argument to the estimator and/or "
                    "the shape of your label. Otherwise, check the shape of your label." %
                    (size, labels.shape.as_list()[-1]))
            expected = array_ops.concat([logits_shape[:-1], [size]], axis=0)
            same = check_ops.assert_equal(expected, labels_shape, message=message, data=[
                "expected_labels_shape: ", expected, "labels_shape: ", labels_shape])
            with ops.control_dependencies([same]):
                return array_ops.identity(labels, name=scope)


def weights_like_logits(features, weight_column, logits, allow_per_logit_weights=False):
    """The weights that a column gives, of shape [..., 1] (or that of the logits); 1.0 without a column."""
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if allow_per_logit_weights:
        message = "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
    with ops.name_scope(None, "weights", values=tuple(features.values()) + (logits,)) as scope:
        if weight_column is None:
            return 1.
        if isinstance(weight_column, str):
            weight_column = feature_column_v2.numeric_column(key=weight_column, shape=(1,))
        if not isinstance(weight_column, feature_column_v2.NumericColumn):
            raise TypeError("Weight column must be either a string or _NumericColumn. Given type: {}.".format(
                type(weight_column)))
        weights = weight_column._get_dense_tensor(feature_column._LazyBuilder(features))
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError("Weight column should be castable to float. Given dtype: {}".format(weights.dtype))
        weights = math_ops.to_float(weights, name="weights")
        weights_shape = array_ops.shape(weights, name="weights_shape")
        logits_shape = array_ops.shape(logits, name="logits_shape")
        shapes = ["logits_shape: ", logits_shape, "weights_shape: ", weights_shape]
        if None not in (weights.shape.ndims, logits.shape.ndims) and weights.shape.ndims == logits.shape.ndims - 1:
            same = check_ops.assert_equal(logits_shape[:-1], weights_shape, message=message, data=shapes)
            with ops.control_dependencies([same]):
                return array_ops.expand_dims(weights, -1, name=scope)
        single = array_ops.concat([logits_shape[:-1], [1]], axis=0)
        if allow_per_logit_weights:
            fits = math_ops.reduce_any([math_ops.reduce_all(math_ops.equal(logits_shape, weights_shape)),
                                        math_ops.reduce_all(math_ops.equal(single, weights_shape))])
            same = control_flow_ops.Assert(condition=fits, data=[message] + shapes)
        else:
            same = check_ops.assert_equal(single, weights_shape, message=message, data=shapes)
        with ops.control_dependencies([same]):
            return array_ops.identity(weights, name=scope)


def check_logits_final_dim(logits, expected_logits_dimension):
    """The logits as floats; their last dimension is checked."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with ops.name_scope(None, "logits", (logits,)) as scope:
        logits = math_ops.to_float(logits)
        shape = array_ops.shape(logits)
        with ops.control_dependencies([check_ops.assert_rank_at_least(logits, 2, data=[shape], message=message)]):
            if logits.shape.ndims is not None and logits.shape.as_list()[-1] is not None:
                if logits.shape.as_list()[-1] != expected_logits_dimension:
                    raise ValueError("%s, got %s." % (message, logits.shape))
                return logits
            same = check_ops.assert_equal(expected_logits_dimension, shape[-1], data=[shape], message=message)
            with ops.control_dependencies([same]):
                return array_ops.identity(logits, name=scope)


def validate_loss_fn_args(loss_fn):
    """ValueError unless the function is one of labels, logits and perhaps features."""
    args = function_utils.fn_args(loss_fn)
    for name in ("labels", "logits"):
        if name not in args:
            raise ValueError("loss_fn must contain argument: {}. Given arguments: {}".format(name, args))
    unknown = list(set(args) - {"labels", "logits", "features"})
    if unknown:
        raise ValueError("loss_fn has unexpected args: {}".format(unknown))


def call_loss_fn(loss_fn, labels, logits, features, expected_loss_dim=1):
    """The unweighted loss that a program's function gives; its shape is checked at run time."""
    kwargs = {"features": features} if "features" in function_utils.fn_args(loss_fn) else {}
    with ops.name_scope(None, "call_loss_fn", values=[labels, logits] + list(features.values())):
        loss = loss_fn(labels=labels, logits=logits, **kwargs)
        logits_shape = array_ops.shape(logits, name="logits_shape")
        expected = array_ops.concat([logits_shape[:-1], [expected_loss_dim]], axis=0, name="expected_loss_shape")
        loss_shape = array_ops.shape(loss, name="loss_shape")
        check = control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.equal(loss_shape, expected)),
            data=["loss_fn must return Tensor of shape [D0, D1, ... DN, {}]. ".format(expected_loss_dim),
                  "logits_shape: ", logits_shape, "loss_shape: ", loss_shape], name="check_loss_shape")
        with ops.control_dependencies([check]):
            return array_ops.identity(loss)


def assert_range(labels, n_classes, message=None):
    """The labels, with a check at run time that they are classes."""
    with ops.name_scope(None, "assert_range", (labels,)):
        less = check_ops.assert_less_equal(labels, ops.convert_to_tensor(n_classes - 1, dtype=labels.dtype),
                                           message=message or "Labels must <= n_classes - 1")
        greater = check_ops.assert_non_negative(labels, message=message or "Labels must >= 0")
        with ops.control_dependencies((less, greater)):
            return array_ops.identity(labels)


# Metrics


def _broadcast(weights, values):
    return None if weights is None else weights_broadcast_ops.broadcast_weights(weights, values)


def labels_mean(labels, weights=None, name=None):
    """The mean of labels of 0 and 1."""
    with ops.name_scope(name, "labels_mean", (labels, weights)) as scope:
        labels = math_ops.to_float(labels, name="labels")
        return metrics_means.mean(labels, weights=_broadcast(weights, labels), name=scope)


def accuracy_baseline(mean):
    """The accuracy of always saying what is more frequent."""
    with ops.name_scope(None, "accuracy_baseline", mean):
        value, update_op = mean
        return (gen.maximum(value, 1. - value, name="value"),
                gen.maximum(update_op, 1 - update_op, name="update_op"))


def predictions_mean(predictions, weights=None, name=None):
    """The mean of predictions."""
    with ops.name_scope(name, "predictions_mean", (predictions, weights)) as scope:
        predictions = math_ops.to_float(predictions, name="predictions")
        return metrics_means.mean(predictions, weights=_broadcast(weights, predictions), name=scope)


def auc(labels, predictions, weights=None, curve="ROC", name=None):
    """The area under a curve."""
    with ops.name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions = math_ops.to_float(predictions, name="predictions")
        return metrics_counts.auc(labels=labels, predictions=predictions, weights=_broadcast(weights, predictions),
                                  curve=curve, name=scope)


def accuracy_at_threshold(labels, predictions, weights, threshold, name=None):
    """The accuracy if what is at or above the threshold counts as 1."""
    with ops.name_scope(name, "accuracy_at_%s" % threshold, (predictions, labels, weights, threshold)) as scope:
        decided = math_ops.to_float(gen.greater_equal(predictions, threshold))
        return metrics_means.accuracy(labels=labels, predictions=decided, weights=weights, name=scope)


def _at_threshold(metric, what, labels, predictions, weights, threshold, name):
    with ops.name_scope(name, "%s_at_%s" % (what, threshold), (predictions, labels, weights, threshold)) as scope:
        value, update_op = metric(labels=labels, predictions=predictions, thresholds=(threshold,), weights=weights,
                                  name=scope)
        return array_ops.squeeze(value), array_ops.squeeze(update_op)


def precision_at_threshold(labels, predictions, weights, threshold, name=None):
    """The precision with a threshold."""
    return _at_threshold(metrics_counts.precision_at_thresholds, "precision", labels, predictions, weights, threshold,
                         name)


def recall_at_threshold(labels, predictions, weights, threshold, name=None):
    """The recall with a threshold."""
    return _at_threshold(metrics_counts.recall_at_thresholds, "recall", labels, predictions, weights, threshold, name)
