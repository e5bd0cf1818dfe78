"""sort and argsort, by TopKV2."""
import numpy as np

from penstock._src.graph import constant_op, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["argsort", "sort"]


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The values in order along an axis."""
    with ops.name_scope(name, "sort"):
        return _sort(values, axis, direction, 0)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that put the values in order along an axis. The order is always stable."""
    del stable
    with ops.name_scope(name, "argsort"):
        return _sort(values, axis, direction, 1)


def _sort(values, axis, direction, output):
    """Sorts; `output` is that of TopKV2: 0 for the values, 1 for the indices."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = ops.convert_to_tensor(axis, name="axis")
    known = tensor_util.constant_value(axis)
    if axis.shape.ndims != 0 or known is None:
        raise ValueError("axis must be a constant scalar")
    values = ops.convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), output)
    result = _descending(_turned(values), int(known), output)
    return result if output else _turned(result)


def _turned(values):
    """The values in the opposite order: the smallest integer has no negative."""
    if not values.dtype.is_integer:
        return -values
    return (values.dtype.max if values.dtype.is_unsigned else -1) - values


def _descending(values, axis, output):
    count = array_ops.shape(values)[axis]
    rank = array_ops.rank(values)
    ndims = values.shape.ndims
    if axis in (-1, None) or (ndims is not None and axis + 1 == ndims):
        return gen.top_kv2(values, k=count)[output]
    if axis < 0:
        axis += ndims or rank
    if ndims is None:
        exchange = array_ops.tensor_scatter_nd_update(math_ops.range(rank), [[axis], [rank - 1]], [rank - 1, axis])
    else:
        order = np.r_[np.arange(axis), [ndims - 1], np.arange(axis + 1, ndims - 1), [axis]]
        exchange = constant_op.constant(order, name="transposition")
    return array_ops.transpose(gen.top_kv2(array_ops.transpose(values, exchange), k=count)[output], exchange)
