"""Rows of a tensor set, added to and subtracted from; `alias_*` may write to the tensor's own memory."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["alias_inplace_add", "alias_inplace_sub", "alias_inplace_update", "empty", "empty_like", "inplace_add",
           "inplace_sub", "inplace_update"]


def _on_rows(x, i, v, op):
    """op on the rows `i` of x: None for all of x, a scalar for one row."""
    x = ops.convert_to_tensor(x)
    v = ops.convert_to_tensor(v, x.dtype)
    if i is None:
        whole = op(array_ops.reshape(x, [1, -1]), [0], array_ops.reshape(v, [1, -1]))
        return array_ops.reshape(whole, array_ops.shape(x))
    i = math_ops.cast(i, dtypes.int32)
    if i.get_shape().ndims == 0:
        return op(x, array_ops.reshape(i, [1]), array_ops.expand_dims(v, 0))
    return op(x, i, v)


def alias_inplace_update(x, i, v):
    """x with `v` in the rows `i`."""
    return _on_rows(x, i, v, gen.inplace_update)


def alias_inplace_add(x, i, v):
    """x with `v` added to the rows `i`."""
    return _on_rows(x, i, v, gen.inplace_add)


def alias_inplace_sub(x, i, v):
    """x with `v` subtracted from the rows `i`."""
    return _on_rows(x, i, v, gen.inplace_sub)


def inplace_update(x, i, v):
    """A copy of x with `v` in the rows `i`."""
    return alias_inplace_update(gen.deep_copy(x), i, v)


def inplace_add(x, i, v):
    """A copy of x with `v` added to the rows `i`."""
    return alias_inplace_add(gen.deep_copy(x), i, v)


def inplace_sub(x, i, v):
    """A copy of x with `v` subtracted from the rows `i`."""
    return alias_inplace_sub(gen.deep_copy(x), i, v)


empty = gen.empty


def empty_like(x, init=None):
    """A tensor of x's shape and type, of zeros if `init` is true and of whatever is there if not."""
    x = ops.convert_to_tensor(x)
    return gen.empty(array_ops.shape(x), x.dtype, init=init)
