"""Streaming covariances and correlations, and values of all batches one behind the other."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_base
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import weights_broadcast_ops


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(value, update): the number of values seen, or the sum of their weights. RuntimeError in eager mode."""
    if ops.executing_eagerly():
        raise RuntimeError("tf.contrib.metrics.count is not supported when eager execution is enabled.")
    with variable_scope.variable_scope(name, "count", (values, weights)):
        total = metrics_base.metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values, _, weights = metrics_base.remove_squeezable_dimensions(
                math_ops.cast(values, dtypes.float32), None, weights)
            number = math_ops.reduce_sum(weights_broadcast_ops.broadcast_weights(
                math_ops.cast(weights, dtypes.float32), values))
        with ops.control_dependencies([values]):
            update = state_ops.assign_add(total, number)
        value = metrics_base.in_collections(metrics_collections, array_ops.identity(total))
        return value, metrics_base.in_collections(updates_collections, update)


def streaming_covariance(predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """(value, update): the unbiased sample covariance of all pairs seen; NaN before the second (Chan et al., 1979)."""
    with variable_scope.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = metrics_base.remove_squeezable_dimensions(predictions, labels, weights)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        seen, mean_prediction, mean_label, comoment = (
            metrics_base.metric_variable([], dtypes.float32, name=each)
            for each in ("count", "mean_prediction", "mean_label", "comoment"))
        if weights is None:
            batch = math_ops.cast(array_ops.size(labels), dtypes.float32)
        else:
            weights = weights_broadcast_ops.broadcast_weights(weights, labels)
            batch = math_ops.reduce_sum(weights)

        def weighted(values):
            return values if weights is None else math_ops.multiply(values, weights)

        now = state_ops.assign_add(seen, batch)

        def moved(mean, values):
            """The batch's mean, and the mean before it, of which the variable is moved on."""
            of_batch = math_ops.div_no_nan(math_ops.reduce_sum(weighted(values)), batch)
            delta = math_ops.div_no_nan((of_batch - mean) * batch, now)
            return of_batch, state_ops.assign_add(mean, delta) - delta

        batch_prediction, previous_prediction = moved(mean_prediction, predictions)
        batch_label, previous_label = moved(mean_label, labels)
        within = math_ops.reduce_sum(weighted((predictions - batch_prediction) * (labels - batch_label)))
        between = ((previous_prediction - batch_prediction) * (previous_label - batch_label) *
                   ((now - batch) * batch / now))
        update = state_ops.assign_add(comoment, within + between)

        def covariance(name):
            return array_ops.where(gen.less_equal(seen, 1.), float("nan"),
                                   math_ops.truediv(comoment, seen - 1), name=name)

        value = covariance("covariance")
        with ops.control_dependencies([update]):
            update_op = covariance("update_op")
    metrics_base.in_collections(metrics_collections, value)
    return value, metrics_base.in_collections(updates_collections, update_op)


def streaming_pearson_correlation(predictions, labels, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """(value, update): Pearson's correlation coefficient of all pairs seen; NaN before the second."""
    with variable_scope.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = metrics_base.remove_squeezable_dimensions(predictions, labels, weights)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        if weights is not None:
            weights = weights_broadcast_ops.broadcast_weights(weights, labels)
        pairs = [streaming_covariance(a, b, weights=weights, name=each) for a, b, each in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
            (labels, labels, "variance_labels"))]

        def correlation(covariance, of_predictions, of_labels, name):
            return math_ops.truediv(covariance, math_ops.multiply(math_ops.sqrt(of_predictions),
                                                                  math_ops.sqrt(of_labels)), name=name)

        value = correlation(*[value for value, _ in pairs], name="pearson_r")
        update_op = correlation(*[update for _, update in pairs], name="update_op")
    metrics_base.in_collections(metrics_collections, value)
    return value, metrics_base.in_collections(updates_collections, update_op)


def _next_array_size(required_size, growth_factor=1.5):
    """The least power of the factor that is large enough."""
    exponent = gen.ceil(gen.log(math_ops.cast(required_size, dtypes.float32)) /
                        gen.log(math_ops.cast(growth_factor, dtypes.float32)))
    return math_ops.cast(gen.ceil(growth_factor ** exponent), dtypes.int32)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """(value, update): all values seen one behind the other along `axis`, at most `max_size` of them.

    ValueError unless their rank and all other sizes are known.
    """
    with variable_scope.variable_scope(name, "streaming_concat", (values,)):
        shape = values.get_shape()
        if shape.ndims is None:
            raise ValueError("`values` must have known statically known rank")
        axis = axis + shape.ndims if axis < 0 else axis
        if not 0 <= axis < shape.ndims:
            raise ValueError("axis = %r not in [0, %r)" % (axis, shape.ndims))
        others = [size for i, size in enumerate(shape.as_list()) if i != axis]
        if None in others:
            raise ValueError("all dimensions of `values` other than the dimension to concatenate along must have "
                             "statically known size")
        array = metrics_base.metric_variable([0 if max_size is None else max_size] + others, values.dtype,
                                             validate_shape=False, name="array")
        size = metrics_base.metric_variable([], dtypes.int32, name="size")
        used = array[:size]
        used.set_shape([None] + others)
        order = [0 if i == axis else i + 1 if i < axis else i for i in range(shape.ndims)]
        value = array_ops.transpose(used, order, name="concat")
        batch_size = array_ops.shape(values)[axis]
        if max_size is not None:
            batch_size = gen.minimum(batch_size, max_size - size)
        batch = array_ops.transpose(values, [axis] + [i for i in range(shape.ndims) if i != axis])[:batch_size]
        new_size = size + batch_size

        def reallocate():
            larger = array_ops.zeros(array_ops.stack([_next_array_size(new_size)] + others), dtype=values.dtype)
            before = array.value()
            with ops.control_dependencies([before]):
                assign = state_ops.assign(array, larger, validate_shape=False)
            with ops.control_dependencies([assign]):
                copy = array[:size].assign(before[:size])
            with ops.control_dependencies([copy]):
                return control_flow_ops.no_op()

        room = array_ops.shape_internal(array, optimize=False)[0]
        with ops.control_dependencies([cond_lib.cond(new_size > room, reallocate, control_flow_ops.no_op)]):
            append = array[size:new_size].assign(batch)
        with ops.control_dependencies([append]):
            update_op = size.assign(new_size)
        metrics_base.in_collections(metrics_collections, value)
        return value, metrics_base.in_collections(updates_collections, update_op)
