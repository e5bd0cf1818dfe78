"""Metrics that are means: of values, errors, accuracies."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.metrics import confusion_matrix
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import weights_broadcast_ops
from penstock._src.ops.metrics.metrics_base import in_collections, metric_variable, remove_squeezable_dimensions


def _quotient(total, count, update_total, update_count, metrics_collections, updates_collections):
    value = math_ops.div_no_nan(total, gen.maximum(count, 0), name="value")
    in_collections(metrics_collections, value)
    update = math_ops.div_no_nan(update_total, gen.maximum(update_count, 0), name="update_op")
    return value, in_collections(updates_collections, update)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(the mean of all values seen, the operation that sees `values`). All metrics return such a pair of tensors."""
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            num_values = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values, _, weights = remove_squeezable_dimensions(predictions=values, labels=None, weights=weights)
            weights = weights_broadcast_ops.broadcast_weights(math_ops.cast(weights, dtypes.float32), values)
            values = math_ops.multiply(values, weights)
            num_values = math_ops.reduce_sum(weights)
        update_total = state_ops.assign_add(total, math_ops.reduce_sum(values))
        with ops.control_dependencies([values]):
            update_count = state_ops.assign_add(count, num_values)
        return _quotient(total, count, update_total, update_count, metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of each element over all tensors seen."""
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable(values.get_shape(), dtypes.float32, name="total_tensor")
        count = metric_variable(values.get_shape(), dtypes.float32, name="count_tensor")
        num_values = array_ops.ones_like(values)
        if weights is not None:
            values, _, weights = remove_squeezable_dimensions(predictions=values, labels=None, weights=weights)
            weights = weights_broadcast_ops.broadcast_weights(math_ops.cast(weights, dtypes.float32), values)
            values = math_ops.multiply(values, weights)
            num_values = math_ops.multiply(num_values, weights)
        update_total = state_ops.assign_add(total, values)
        with ops.control_dependencies([values]):
            update_count = state_ops.assign_add(count, num_values)
        return _quotient(total, count, update_total, update_count, metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often predictions equal labels."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                        name=None):
    """(the mean of |labels - predictions|, update)."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    errors = math_ops.abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                       name=None):
    """(the mean of (labels - predictions)^2, update)."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    errors = gen.squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                            name=None):
    """(the root of the mean of (labels - predictions)^2, update)."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    mse, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    rmse = in_collections(metrics_collections, math_ops.sqrt(mse))
    return rmse, in_collections(updates_collections, math_ops.sqrt(update))


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):
    """|labels - predictions| / normalizer; 0 where that is 0."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    predictions, normalizer = confusion_matrix.remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = array_ops.where(math_ops.equal(normalizer, 0.0), array_ops.zeros_like(labels),
                             math_ops.div(math_ops.abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """1 - the mean dot product along `dim`."""
    predictions, labels, weights = remove_squeezable_dimensions(predictions, labels, weights)
    products = math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value = math_ops.subtract(1.0, value)
    update = math_ops.subtract(1.0, update)
    return in_collections(metrics_collections, value), in_collections(updates_collections, update)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often a value is below `threshold`, between 0 and 1."""
    below = math_ops.cast(gen.less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """The mean over the classes of the accuracy among the examples of the class."""
    with variable_scope.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = math_ops.cast(labels, dtypes.int64)
        if labels.get_shape().ndims > 1:
            labels = array_ops.reshape(labels, [-1])
        if predictions.get_shape().ndims > 1:
            predictions = array_ops.reshape(predictions, [-1])
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = math_ops.cast(predictions, labels.dtype)
        correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            if weights.get_shape().ndims > 1:
                weights = array_ops.reshape(weights, [-1])
            weights = math_ops.cast(weights, dtypes.float32)
            correct *= weights
            ones *= weights
        update_total = state_ops.scatter_add(total, labels, ones)
        update_count = state_ops.scatter_add(count, labels, correct)
        per_class = math_ops.div_no_nan(count, gen.maximum(total, 0), name=None)
        value = in_collections(metrics_collections, math_ops.reduce_mean(per_class, name="mean_accuracy"))
        update = math_ops.div_no_nan(update_count, gen.maximum(update_total, 0), name="update_op")
        return value, in_collections(updates_collections, update)


def _streaming_confusion_matrix(labels, predictions, num_classes, weights=None):
    total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    predictions = math_ops.cast(predictions, dtypes.int64)
    labels = math_ops.cast(labels, dtypes.int64)
    num_classes = math_ops.cast(num_classes, dtypes.int64)
    if predictions.get_shape().ndims > 1:
        predictions = array_ops.reshape(predictions, [-1])
    if labels.get_shape().ndims > 1:
        labels = array_ops.reshape(labels, [-1])
    if weights is not None and weights.get_shape().ndims > 1:
        weights = array_ops.reshape(weights, [-1])
    current = confusion_matrix.confusion_matrix(labels, predictions, num_classes, weights=weights,
                                                dtype=dtypes.float64)
    return total, state_ops.assign_add(total, current)


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None,
             name=None):
    """The mean over the classes of intersection over union of predicted and true members."""
    with variable_scope.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total, update = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
        rows = math_ops.cast(math_ops.reduce_sum(total, 0), dtypes.float32)
        columns = math_ops.cast(math_ops.reduce_sum(total, 1), dtypes.float32)
        both = math_ops.cast(gen.diag_part(total), dtypes.float32)
        union = rows + columns - both
        # Classes that occur neither among labels nor among predictions do not count.
        valid = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), dtype=dtypes.float32))
        union = array_ops.where(gen.greater(union, 0), union, array_ops.ones_like(union))
        iou = math_ops.div(both, union)
        value = array_ops.where(gen.greater(valid, 0), math_ops.reduce_sum(iou, name="mean_iou") / valid, 0)
        return in_collections(metrics_collections, value), in_collections(updates_collections, update)
