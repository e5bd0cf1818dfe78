"""What metrics share: their variables, weights, and counting at thresholds."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.metrics import confusion_matrix
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import weights_broadcast_ops


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A zero variable in LOCAL_VARIABLES and METRIC_VARIABLES."""
    return variable_scope.variable(
        lambda: array_ops.zeros(shape, dtype), trainable=False,
        collections=[ops.GraphKeys.LOCAL_VARIABLES, ops.GraphKeys.METRIC_VARIABLES], validate_shape=validate_shape,
        synchronization=variable_scope.VariableSynchronization.ON_READ,
        aggregation=variable_scope.VariableAggregation.SUM, name=name)


def in_collections(collections, value):
    """`value`, added to the collections if there are any."""
    if collections:
        ops.add_to_collections(collections, value)
    return value


def _aggregate_variable(v, collections):
    return in_collections(collections, array_ops.identity(v))


def _aggregate_across_replicas(metrics_collections, metric_value_fn, *args):
    """metric_value_fn(distribution, *args), in the collections. There is one replica, and no distribution."""
    return in_collections(metrics_collections, metric_value_fn(None, *args))


def remove_squeezable_dimensions(predictions, labels, weights):
    """The three with matching ranks: a last dimension of size 1 is dropped, or added to weights, where one differs."""
    predictions = ops.convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    weights = ops.convert_to_tensor(weights)
    shape = weights.get_shape()
    if shape.ndims == 0:
        return predictions, labels, weights
    predictions_rank = predictions.get_shape().ndims
    if predictions_rank is not None and shape.ndims is not None:
        if shape.ndims - predictions_rank == 1:
            weights = array_ops.squeeze(weights, [-1])
        elif predictions_rank - shape.ndims == 1:
            weights = array_ops.expand_dims(weights, [-1])
        return predictions, labels, weights
    given = weights
    rank = array_ops.rank(given)
    difference = rank - array_ops.rank(predictions)

    def maybe_expand():
        return cond_lib.cond(math_ops.equal(difference, -1), lambda: array_ops.expand_dims(given, [-1]),
                             lambda: given)

    def maybe_squeeze():
        if shape.ndims is not None and not shape.dims[-1].is_compatible_with(1):
            return given
        return array_ops.squeeze(given, [-1])

    weights = cond_lib.cond(
        math_ops.equal(rank, 0), lambda: given,
        lambda: cond_lib.cond(math_ops.equal(difference, 1), maybe_squeeze, maybe_expand))
    return predictions, labels, weights


def confusion_matrix_at_thresholds(labels, predictions, thresholds, weights=None, includes=None):
    """({kind: variable}, {kind: update}) for the kinds "tp", "fn", "tn", "fp" of `includes`, one count a threshold."""
    kinds = ("tp", "fn", "tn", "fp")
    includes = kinds if includes is None else includes
    for include in includes:
        if include not in kinds:
            raise ValueError("Invalid key: %s." % include)
    with ops.control_dependencies([
            check_ops.assert_greater_equal(predictions, math_ops.cast(0.0, dtype=predictions.dtype),
                                           message="predictions must be in [0, 1]"),
            check_ops.assert_less_equal(predictions, math_ops.cast(1.0, dtype=predictions.dtype),
                                        message="predictions must be in [0, 1]")]):
        predictions, labels, weights = remove_squeezable_dimensions(
            predictions=math_ops.cast(predictions, dtypes.float32), labels=math_ops.cast(labels, dtype=dtypes.bool),
            weights=weights)
    count = len(thresholds)
    predictions_2d = array_ops.reshape(predictions, [-1, 1])
    labels_2d = array_ops.reshape(math_ops.cast(labels, dtype=dtypes.bool), [1, -1])
    num_predictions = predictions_2d.get_shape().as_list()[0]
    if num_predictions is None:
        num_predictions = array_ops.shape(predictions_2d)[0]
    tiled = gen.tile(array_ops.expand_dims(constant_op.constant(thresholds), [1]),
                     array_ops.stack([1, num_predictions]))
    predicted = {"p": gen.greater(gen.tile(array_ops.transpose(predictions_2d), [count, 1]), tiled)}
    if "fn" in includes or "tn" in includes:
        predicted["n"] = gen.logical_not(predicted["p"])
    is_positive = gen.tile(labels_2d, [count, 1])
    is_negative = gen.logical_not(is_positive) if "fp" in includes or "tn" in includes else None
    weights_tiled = None
    if weights is not None:
        weights = weights_broadcast_ops.broadcast_weights(math_ops.cast(weights, dtypes.float32), predictions)
        weights_tiled = gen.tile(array_ops.reshape(weights, [1, -1]), [count, 1])
        tiled.get_shape().assert_is_compatible_with(weights_tiled.get_shape())
    names = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
    values, updates = {}, {}
    for kind in kinds:
        if kind in includes:
            values[kind] = metric_variable([count], dtypes.float32, name=names[kind])
            label = is_positive if kind in ("tp", "fn") else is_negative
            hits = math_ops.cast(gen.logical_and(label, predicted[kind[1]]), dtypes.float32)
            if weights_tiled is not None:
                hits *= weights_tiled
            updates[kind] = state_ops.assign_add(values[kind], math_ops.reduce_sum(hits, 1))
    return values, updates
