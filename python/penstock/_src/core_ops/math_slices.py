"""Tensors as IndexedSlices."""
from penstock._src.graph import dtypes, indexed_slices, ops
from penstock._src.core_ops import array_ops, math_arith


def _as_indexed_slices(x, optimize=True):
    """A tensor as IndexedSlices of all its rows."""
    if isinstance(x, indexed_slices.IndexedSlices):
        return x
    if not isinstance(x, ops.Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = array_ops.shape_internal(x, optimize=optimize)
    return indexed_slices.IndexedSlices(x, math_arith.range(0, shape[0]), shape)


def _as_indexed_slices_list(inputs, optimize=True):
    """`_as_indexed_slices` of each, with indices of one type."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    slices = [_as_indexed_slices(x, optimize=optimize) for x in inputs]
    narrow = [s for s in slices if s.indices.dtype == dtypes.int32]
    if not narrow or len(narrow) == len(slices):
        return slices
    return [indexed_slices.IndexedSlices(s.values, math_arith.cast(s.indices, dtypes.int64), s.dense_shape)
            if s.indices.dtype == dtypes.int32 else s for s in slices]
