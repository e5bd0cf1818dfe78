"""Indexing and slicing of ragged tensors."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, errors, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.ragged import ragged_checks
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor


def ragged_tensor_getitem(ragged, key):
    """Part of a ragged tensor. An inner ragged dimension can be sliced but not indexed."""
    if not isinstance(ragged, RaggedTensor):
        raise TypeError(f"Expected a RaggedTensor, got {ragged!r}")
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    parts = [part for k in keys for part in ([k.start, k.stop, k.step] if isinstance(k, slice) else [k])]
    with ops.name_scope(None, "RaggedGetItem", [ragged] + [p for p in parts if isinstance(p, ops.Tensor)]):
        return _outer(ragged, keys)


def _check(key):
    """TypeError unless it can be a key of the outermost dimension."""
    for part in (key.start, key.stop, key.step) if isinstance(key, slice) else (key,):
        if part is not None and not _is_integer(part):
            raise TypeError(f"{array_ops._SLICE_TYPE_ERROR}, got {part!r}")


def _check_columns(key):
    """TypeError unless the slice can be one of an inner dimension."""
    for part, what in ((key.start, "offsets"), (key.stop, "offsets"), (key.step, "strides")):
        if part is not None and not _is_integer(part):
            raise TypeError(f"slice {what} must be integers or None")


def _is_integer(value):
    if isinstance(value, ops.Tensor):
        return value.dtype.is_integer
    return isinstance(value, (int, np.integer)) or isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def _spread(keys, ndims):
    """The keys with as many slices in place of the first ellipsis as are missing."""
    if ndims is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    used = sum(1 for k in keys if k is not Ellipsis and k is not None)
    if used > ndims:
        raise IndexError(f"Too many indices for RaggedTensor of {ndims} dimensions: {used}")
    return [slice(None)] * max(0, ndims - used) + [k for k in keys[1:] if k is not Ellipsis]


def _is_whole(key):
    return isinstance(key, slice) and key.start is None and key.stop is None and key.step is None


def _of(value, keys):
    """value[keys], for a tensor or a ragged one."""
    if not keys:
        return value
    return _outer(value, keys) if isinstance(value, RaggedTensor) else value[tuple(keys)]


def _outer(ragged, keys):
    if not keys:
        return ragged
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        return _outer(ragged, _spread(keys, ragged.shape.ndims))
    if key is None:
        inner = _outer(ragged, rest)
        rows = _nrows(inner, ragged.row_splits.dtype)
        if tf2.enabled():
            return RaggedTensor.from_uniform_row_length(inner, rows, nrows=1, validate=False)
        return RaggedTensor.from_row_splits(inner, array_ops.stack([constant_op.constant(0, rows.dtype), rows]),
                                            validate=False)
    _check(key)
    if isinstance(key, slice):
        rows = _rows(ragged, key)
        if rows is not ragged and ragged.uniform_row_length is not None:
            rows = RaggedTensor.from_uniform_row_length(rows.values, ragged.uniform_row_length, rows.nrows())
        return _inner(rows, rest)
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    try:
        row = ragged.values[starts[key]:limits[key]]
    except errors.InvalidArgumentError:  # so that a loop over the rows ends
        raise IndexError(f"Row key {key} out of bounds.") from None
    return _of(row, rest)


def _rows(ragged, key):
    """Rows of the outermost dimension."""
    if _is_whole(key):
        return ragged
    starts, limits = ragged.row_splits[:-1][key], ragged.row_splits[1:][key]
    step = 1 if key.step is None else key.step
    known = tensor_util.constant_value(step) if isinstance(step, ops.Tensor) else step
    if known == 1:
        # These rows lie together; without rows the splits are a single 0.
        zero = array_ops.zeros([1], starts.dtype)
        splits = array_ops.concat([zero[array_ops.size(starts):], starts[:1], limits], axis=0)
        return RaggedTensor.from_row_splits(ragged.values[splits[0]:splits[-1]], splits - splits[0], validate=False)
    return _ranges(starts, limits, 1, ragged.values)


def _ranges(starts, limits, step, values):
    """The ragged tensor of ranges of values."""
    step = math_ops.cast(ops.convert_to_tensor(step), starts.dtype)
    splits, index = gen.ragged_range(starts, limits, step, Tsplits=starts.dtype)
    if isinstance(values, RaggedTensor):
        nested = gen.ragged_gather(values.nested_row_splits, values.flat_values, index,
                                   OUTPUT_RAGGED_RANK=values.ragged_rank)
        values = RaggedTensor.from_nested_row_splits(nested[1], nested[0], validate=False)
    else:
        values = array_ops.gather(values, index)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _inner(value, keys):
    """value[:, keys...]"""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[tuple([slice(None)] + keys)]
    key, rest = keys[0], keys[1:]
    if key is Ellipsis:
        ndims = value.shape.ndims
        return _inner(value, _spread(keys, None if ndims is None else ndims - 1))
    if key is None:
        inner = _inner(value, rest)
        rows = _nrows(inner, value.row_splits.dtype)
        if tf2.enabled():
            return RaggedTensor.from_uniform_row_length(inner, constant_op.constant(1, rows.dtype), nrows=rows,
                                                        validate=False)
        return RaggedTensor.from_row_splits(inner, math_ops.range(rows + 1), validate=False)
    if not isinstance(key, slice):
        return _inner(_column(value, key), rest)
    _check_columns(key)
    if _is_whole(key):
        return value.with_values(_inner(value.values, rest)) if rest else value
    sliced = _columns(value, key)
    if value.uniform_row_length is not None:
        sliced = RaggedTensor.from_uniform_row_length(
            sliced.values, _slice_length(value.uniform_row_length, key), value.nrows())
    return sliced.with_values(_inner(sliced.values, rest)) if rest else sliced


def _nrows(value, dtype):
    """The number of rows as a tensor, constant where it is known."""
    known = tensor_shape.dimension_value(value.shape[0]) if value.shape.ndims is not None else None
    return ragged_checks.nrows_of(value, dtype) if known is None else constant_op.constant(known, dtype)


def _column(ragged, key):
    """The element `key` of each row. ValueError unless all rows have the same length."""
    length = ragged.uniform_row_length
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    key = math_ops.cast(key, length.dtype)
    message = "Index out of bounds when indexing into a ragged tensor"
    with ops.control_dependencies([check_ops.assert_greater_equal(key, -length, message=message),
                                   check_ops.assert_less(key, length, message=message)]):
        return ragged.values[array_ops.where_v2(key < 0, length + key, key)::length]


def _slice_length(length, key):
    """The number of elements in a slice of `length` ones."""
    parts = [part if not isinstance(part, ops.Tensor) else tensor_util.constant_value(part)
             for part in (length, key.start, key.stop, key.step)]
    if parts[0] is not None and all((part is None) == (given is None)
                                    for part, given in zip(parts[1:], (key.start, key.stop, key.step))):
        return constant_op.constant(len(range(parts[0])[slice(*parts[1:])]), length.dtype)
    return array_ops.size(array_ops.zeros(length, dtypes.bool)[key], out_type=length.dtype)


def _columns(ragged, key):
    """A slice of each row."""
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    dtype = starts.dtype
    step = 1 if key.step is None else key.step
    known = tensor_util.constant_value(step) if isinstance(step, ops.Tensor) else step
    if known == 0:
        raise ValueError("slice step cannot be zero")

    def place(bound, otherwise, backwards):
        """Where a bound lies in each row, between its ends (one before them for steps backwards)."""
        if bound is None:
            return otherwise
        bound = math_ops.cast(ops.convert_to_tensor(bound), dtype)
        low, high = (starts - 1, limits - 1) if backwards else (starts, limits)
        at = array_ops.where_v2(bound < 0, limits + bound, starts + bound)
        return gen.minimum(gen.maximum(at, low), high)

    def ends(backwards):
        return (place(key.start, limits - 1 if backwards else starts, backwards),
                place(key.stop, starts - 1 if backwards else limits, backwards))

    if known is not None:
        begin, end = ends(known < 0)
    else:
        begin, end = (array_ops.where_v2(step < 0, b, f) for b, f in zip(ends(True), ends(False)))
    return _ranges(begin, end, step, ragged.values)
