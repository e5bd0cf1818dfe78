"""Weights of losses and metrics: scalars, or tensors with the values' rank whose dimensions are 1 or the values'."""
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.sparse import sets_impl as sets

_ASSERT_BROADCASTABLE_ERROR_PREFIX = "weights can not be broadcast to values."


def _has_valid_dims(weights_shape, values_shape):
    with ops.name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        values_2d = array_ops.expand_dims(values_shape, -1)
        valid = array_ops.concat((values_2d, array_ops.ones_like(values_2d)), axis=1)
        weights_2d = array_ops.expand_dims(weights_shape, -1)
        invalid = sets.set_difference(weights_2d, valid)
        count = array_ops.size(invalid.values, name="num_invalid_dims")
        return math_ops.equal(0, count, name=scope)


def _has_valid_nonscalar_shape(weights_rank, weights_shape, values_rank, values_shape):
    with ops.name_scope(None, "has_valid_nonscalar_shape",
                        (weights_rank, weights_shape, values_rank, values_shape)) as scope:
        same_rank = math_ops.equal(values_rank, weights_rank, name="is_same_rank")
        return cond_lib.cond(same_rank, lambda: _has_valid_dims(weights_shape, values_shape),
                             lambda: same_rank, name=scope)


def assert_broadcastable(weights, values):
    """An operation that fails when run if `weights` do not fit `values`; ValueError at once where shapes are known."""
    with ops.name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with ops.name_scope(None, "weights", (weights,)) as weights_scope:
            weights = ops.convert_to_tensor(weights, name=weights_scope)
            weights_shape = array_ops.shape(weights, name="shape")
            weights_rank = array_ops.rank(weights, name="rank")
        known_weights_rank = tensor_util.constant_value(weights_rank)
        with ops.name_scope(None, "values", (values,)) as values_scope:
            values = ops.convert_to_tensor(values, name=values_scope)
            values_shape = array_ops.shape(values, name="shape")
            values_rank = array_ops.rank(values, name="rank")
        known_values_rank = tensor_util.constant_value(values_rank)
        if known_weights_rank is not None and known_values_rank is not None:
            if known_weights_rank == 0:
                return control_flow_ops.no_op(name="static_scalar_check_success")
            if known_weights_rank != known_values_rank:
                raise ValueError("%s values.rank=%s. weights.rank=%s. values.shape=%s. weights.shape=%s." % (
                    _ASSERT_BROADCASTABLE_ERROR_PREFIX, known_values_rank, known_weights_rank, values.shape,
                    weights.shape))
            known_weights = tensor_util.constant_value(weights_shape)
            known_values = tensor_util.constant_value(values_shape)
            if known_weights is not None and known_values is not None:
                for i, (w, v) in enumerate(zip(known_weights, known_values)):
                    if w not in (1, v):
                        raise ValueError("%s Mismatch at dim %s. values.shape=%s weights.shape=%s." % (
                            _ASSERT_BROADCASTABLE_ERROR_PREFIX, i, known_values, known_weights))
                return control_flow_ops.no_op(name="static_dims_check_success")
        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        data = (_ASSERT_BROADCASTABLE_ERROR_PREFIX, "weights.shape=", weights.name, weights_shape, "values.shape=",
                values.name, values_shape, "is_scalar=", is_scalar)
        fits = cond_lib.cond(
            is_scalar, lambda: is_scalar,
            lambda: _has_valid_nonscalar_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape")
        return control_flow_ops.Assert(fits, data, name=scope)


def broadcast_weights(weights, values):
    """`weights` in the type of `values` and with their shape."""
    with ops.name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = ops.convert_to_tensor(values, name="values")
        weights = ops.convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        weights_shape, values_shape = weights.get_shape(), values.get_shape()
        if (weights_shape.is_fully_defined() and values_shape.is_fully_defined() and
                weights_shape.is_compatible_with(values_shape)):
            return weights
        with ops.control_dependencies((assert_broadcastable(weights, values),)):
            return math_ops.multiply(weights, array_ops.ones_like(values), name=scope)
