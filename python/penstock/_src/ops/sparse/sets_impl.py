"""Sets along the last dimension of dense or sparse tensors."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor
from penstock._src.ops.sparse.sparse_ops import as_sparse

__all__ = ["set_difference", "set_intersection", "set_size", "set_union"]

_TYPES = frozenset([dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string])


def set_size(a, validate_indices=True):
    """The number of different elements of each set."""
    a = as_sparse(a) if isinstance(a, sparse_tensor.SparseTensorValue) else a
    if not isinstance(a, sparse_tensor.SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in _TYPES:
        raise TypeError("Invalid dtype %s." % a.values.dtype)
    return gen.set_size(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def _combine(a, b, operation, validate_indices):
    a, b = (as_sparse(x) if isinstance(x, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue))
            else ops.convert_to_tensor(x) for x in (a, b))
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError("Types don't match, %s vs %s." % (a.dtype, b.dtype))
    if a.dtype.base_dtype not in _TYPES:
        raise TypeError("Invalid dtype %s." % a.dtype)
    sparse = [isinstance(x, sparse_tensor.SparseTensor) for x in (a, b)]
    if sparse == [True, False]:
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
        a, b, sparse = b, a, [False, True]

    def parts(x, is_sparse):
        return [x.indices, x.values, x.dense_shape] if is_sparse else [x]

    op = {(True, True): "sparse_to_sparse_set_operation", (False, True): "dense_to_sparse_set_operation",
          (False, False): "dense_to_dense_set_operation"}[tuple(sparse)]
    indices, values, shape = getattr(gen, op)(*parts(a, sparse[0]), *parts(b, sparse[1]), set_operation=operation,
                                              validate_indices=validate_indices)
    return sparse_tensor.SparseTensor(indices, values, shape)


def set_intersection(a, b, validate_indices=True):
    """The elements of both sets."""
    return _combine(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """The elements of one set without those of the other."""
    return _combine(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a, b, validate_indices=True):
    """The elements of either set."""
    return _combine(a, b, "union", validate_indices)
