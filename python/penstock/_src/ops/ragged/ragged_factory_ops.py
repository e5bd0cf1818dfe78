"""Ragged tensors from nested lists, and placeholders of them."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, ops, tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.ragged import ragged_tensor
from penstock._src.ops.ragged.ragged_tensor_value import RaggedTensorValue

__all__ = ["constant", "constant_value", "placeholder"]

_MOST_DIMENSIONS = 254  # of any tensor


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A constant ragged tensor from nested lists; a tensor if no dimension is ragged."""
    splits_dtype = dtypes.as_dtype(row_splits_dtype)

    def ragged(values, splits):
        return ragged_tensor.RaggedTensor.from_row_splits(values, constant_op.constant(splits, dtype=splits_dtype),
                                                          validate=False)

    with ops.name_scope(name, "RaggedConstant"):
        return _build(ragged, constant_op.constant, pylist, dtype, ragged_rank, inner_shape)


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """A RaggedTensorValue from nested lists; an array if no dimension is ragged."""
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    splits_dtype = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def array(values, dtype, shape, name=None):
        # Converted afterwards, numbers wrap around in unsigned types, as in TensorFlow.
        return np.reshape(np.array(values, dtype) if dtype in (None, object) else np.array(values).astype(dtype), shape)

    return _build(lambda values, splits: RaggedTensorValue(values, np.array(splits, dtype=splits_dtype)), array, pylist,
                  dtype, ragged_rank, inner_shape)


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A ragged tensor that is fed."""
    if ragged_rank == 0:
        return array_ops.placeholder(dtype, value_shape, name)
    _check_rank(ragged_rank)
    with ops.name_scope(name, "RaggedPlaceholder", []):
        result = array_ops.placeholder(dtype, tensor_shape.TensorShape([None]).concatenate(value_shape), "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = array_ops.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = ragged_tensor.RaggedTensor(result, splits, internal=True)
        return result


def _check_rank(ragged_rank):
    if ragged_rank >= _MOST_DIMENSIONS:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: a tensor has at most {_MOST_DIMENSIONS} dimensions")


def _is_list(item):
    return isinstance(item, (list, tuple)) or np.ndim(item) != 0


def _build(ragged, inner, pylist, dtype, ragged_rank, inner_shape):
    if ragged_tensor.is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return inner(pylist, dtype, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalar_depth, depth = _depths(pylist)
    if scalar_depth is not None and depth > scalar_depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if (expected < depth) if scalar_depth is None else (expected != scalar_depth):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                             f"dim(inner_shape)={len(inner_shape)}")
    if ragged_rank is not None:
        if scalar_depth is not None and ragged_rank > depth:
            raise ValueError(f"Invalid pylist={pylist!r}, max depth smaller than ragged_rank={ragged_rank}")
        _check_rank(ragged_rank)  # lists without scalars have any depth
    flat = depth < 2 or (inner_shape is not None and depth - len(inner_shape) < 2)
    if ragged_rank == 0 or (ragged_rank is None and flat):
        return inner(pylist, dtype, inner_shape) if inner_shape is not None else _inner_of_lists(inner, pylist, dtype)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, depth - 1) if scalar_depth is None else max(1, scalar_depth - 1 - len(inner_shape))
    nested, values = [], pylist
    for _ in range(ragged_rank):
        nested.append(np.cumsum([0] + [len(row) for row in values]).tolist())
        values = [item for row in values for item in row]
    result = inner(values, dtype=dtype, shape=(len(values),) + tuple(inner_shape), name="values")
    for splits in reversed(nested):
        result = ragged(result, splits)
    return result


def _inner_of_lists(inner, pylist, dtype):
    return inner(pylist, dtype, np.shape(pylist)) if inner is not constant_op.constant else inner(pylist, dtype)


def _depths(item):
    """How deep the scalars lie (None: there are none), and the lists."""
    if not _is_list(item):
        return 0, 0
    scalar_depth, depth = None, 1
    for child in item:
        child_scalar, child_depth = _depths(child)
        if child_scalar is not None:
            if scalar_depth is not None and scalar_depth != child_scalar + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalar_depth = child_scalar + 1
        depth = max(depth, child_depth + 1)
    return scalar_depth, depth


def _inner_shape(pylist, ragged_rank):
    """The shape of what lies below the ragged dimensions, the same everywhere."""

    def shape_of(item):
        if not _is_list(item):
            return ()
        return (len(item),) + shape_of(item[0]) if len(item) else (0,)

    def check(item, shape):
        if _is_list(item) != bool(shape) or (shape and shape[0] != len(item)):
            raise ValueError("inner values have inconsistent shape")
        if shape:
            for child in item:
                check(child, shape[1:])

    values = pylist
    for depth in range(ragged_rank):
        if not all(_is_list(v) for v in values):
            raise ValueError(f"pylist has scalar values depth {depth + 1}, but ragged_rank={ragged_rank} requires "
                             f"scalar value depth greater than {ragged_rank}")
        values = [item for v in values for item in v]
    shape = shape_of(values)
    check(values, shape)
    return shape[1:]
