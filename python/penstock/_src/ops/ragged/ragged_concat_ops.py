"""Joining ragged tensors along a dimension."""
from penstock._src.base import tf2
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.ragged import ragged_array_ops, ragged_checks, ragged_gather_ops
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def concat(values, axis, name=None):
    """Tensors of one rank, ragged or not, one behind the other along a dimension.

    ValueError: no values, ranks that differ, or an axis out of bounds.
    """
    return _join(values, axis, False, name)


def stack_v1(values, axis=0, name=None):
    """Tensors of one rank, ragged or not, side by side along a new dimension.

    ValueError: no values, ranks that differ, or an axis out of bounds.
    """
    return _join(values, axis, True, name)


def _join(values, axis, stacked, name):
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with ops.name_scope(name, "RaggedConcat", values):
        if not values:
            raise ValueError("rt_inputs may not be empty.")
        values = [convert_to_tensor_or_ragged_tensor(v, name="rt_input") for v in values]
        dtype, values = match_row_splits_dtypes(*values, return_dtype=True)
        return _joined(list(values), axis, stacked, dtype)


def stack_v2(values, axis=0, name=None):
    """`stack_v1`, whose result is ragged also where vectors are stacked as rows."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if values and axis in (0, -2) and not any(map(is_ragged, values)):
        values = [convert_to_tensor_or_ragged_tensor(v, name="rt_input") for v in values]
        if all(v.shape.ndims == 1 for v in values):
            with ops.name_scope(name, "RaggedConcat", values):
                lengths = array_ops.stack([array_ops.shape(v)[0] for v in values])
                return RaggedTensor.from_row_lengths(array_ops.concat(values, axis=0), lengths)
    return stack_v1(values, axis, name)


def stack(values, axis=0, name=None):
    """`stack_v1` or `stack_v2`, as the version in use has it."""
    return (stack_v2 if tf2.enabled() else stack_v1)(values, axis, name)


def _joined(values, axis, stacked, dtype):
    if len(values) == 1:
        return ragged_array_ops.expand_dims(values[0], axis=axis) if stacked else values[0]
    ndims = None
    for value in values:
        if ndims is not None:
            value.shape.assert_has_rank(ndims)
        ndims = value.shape.ndims
    out = ndims + 1 if stacked and ndims is not None else ndims
    axis = ragged_checks.get_positive_axis(axis, out)
    if not any(map(is_ragged, values)) and ndims is not None and axis in (out - 1, ndims - 1):
        return array_ops.stack(values, axis) if stacked else array_ops.concat(values, axis)
    rank = max(v.ragged_rank if is_ragged(v) else 1 for v in values)
    values = [_of_rank(v, rank, dtype) for v in values]
    if axis == 0:
        return _behind(values, stacked)
    if axis == 1:
        return _beside(values, stacked)
    same = ragged_checks.assert_splits_match([[v.row_splits] for v in values])
    with ops.control_dependencies(same):
        return values[0].with_values(_joined([v.values for v in values], axis - 1, stacked, dtype))


def _of_rank(value, rank, dtype):
    """The value with `rank` ragged dimensions."""
    if rank == 0:
        return value
    if not is_ragged(value):
        value = RaggedTensor.from_tensor(value, row_splits_dtype=dtype)
    return value if value.ragged_rank >= rank else value.with_values(_of_rank(value.values, rank - 1, dtype))


def _behind(values, stacked):
    """Along the outermost dimension: values and splits one behind the other, the splits moved up."""
    splits = []
    for level in zip(*(v.nested_row_splits for v in values)):
        offset, parts = level[0][-1], [level[0]]
        for part in level[1:]:
            parts.append(part[1:] + offset)
            offset = offset + part[-1]
        splits.append(array_ops.concat(parts, axis=0))
    if stacked:
        splits.insert(0, ragged_checks.splits_of(array_ops.stack([v.nrows() for v in values])))
    flat = array_ops.concat([v.flat_values for v in values], axis=0)
    return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


def _beside(values, stacked):
    """Along the second dimension: the rows of all values by turns, and then groups of them as one."""
    count, rows = len(values), values[0].nrows()
    same = [check_ops.assert_equal(v.nrows(), rows, message="Input tensors have incompatible shapes.")
            for v in values[1:]]
    with ops.control_dependencies(same):
        turns = array_ops.transpose(array_ops.reshape(math_ops.range(rows * count), [count, -1]))
        by_turns = ragged_gather_ops.gather(_behind(values, False), array_ops.reshape(turns, [-1]))
        splits = math_ops.range(0, rows * count + 1, count) if stacked else by_turns.row_splits[::count]
        for value in values:
            if value.shape[0] is not None and value.shape.dims[0].value is not None:
                splits.set_shape([value.shape.dims[0].value + 1])
        return RaggedTensor.from_row_splits(by_turns if stacked else by_turns.values, splits, validate=False)
