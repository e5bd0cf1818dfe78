"""Functions of the innermost values of ragged tensors."""
from penstock._src.graph import ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.ragged import ragged_checks
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def _flat_values(value, found):
    """A value with flat values in the place of ragged tensors, which it adds to `found`."""
    if is_ragged(value):
        value = convert_to_tensor_or_ragged_tensor(value)
        found.append(value)
        return value.flat_values
    if isinstance(value, (list, tuple)):
        return type(value)([_flat_values(v, found) for v in value])
    if isinstance(value, dict):
        return {key: _flat_values(v, found) for key, v in value.items()}
    return value


def map_flat_values(op, *args, **kwargs):
    """op of the innermost values of all ragged arguments, which must have the same rows; the result has them too."""
    found = []
    flat_args = [_flat_values(value, found) for value in args]
    flat_kwargs = {key: _flat_values(value, found) for key, value in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    match_row_splits_dtypes(*found)
    if len({value.ragged_rank for value in found}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    splits = [value.nested_row_splits for value in found]
    checks = ragged_checks.assert_splits_match(splits)
    with ops.control_dependencies(checks):
        values = op(*flat_args, **flat_kwargs)
        outer = found[0].flat_values.shape[:1]
        if not is_ragged(values) and not outer.is_compatible_with(ops.convert_to_tensor(values).shape[:1]):
            raise ValueError("tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension "
                             "size as flat_values of any ragged inputs. (output shape: "
                             f"{ops.convert_to_tensor(values).shape}; expected outer dimension size: {outer[0]})")
        if checks:
            return RaggedTensor.from_nested_row_splits(
                values, [control_flow_ops.with_dependencies(checks, s) for s in splits[0]], validate=False)
        return found[0].with_flat_values(values)


def stretch(*values):
    """Tensors, ragged ones among them, with dimensions of size 1 repeated to a common shape.

    Uniform inner dimensions are left as they are. ValueError: ranks that are not known. InvalidArgumentError: sizes
    that differ and are not 1.
    """
    values = list(match_row_splits_dtypes(*values))
    if any(v.shape.ndims is None for v in values):
        raise ValueError("Unable to broadcast: unknown rank")
    inner = min(v.flat_values.shape.ndims for v in values if is_ragged(v))
    # A tensor of fewer dimensions than the innermost values have is stretched by ops of them alone.
    taking_part = [i for i, v in enumerate(values) if is_ragged(v) or v.shape.ndims >= inner]
    parts = [values[i] for i in taking_part]
    if len(parts) > 1:
        rank = max(v.shape.ndims for v in parts)
        for i, part in enumerate(parts):
            for _ in range(rank - part.shape.ndims):
                parts[i] = _with_one_row(parts[i])
        parts = _of_same_rows(_of_as_many_rows(parts))
    for i, part in zip(taking_part, parts):
        values[i] = part
    return values


def flat(value):
    """The innermost values of a ragged tensor; another tensor as it is."""
    return value.flat_values if is_ragged(value) else value


def stretched(op, *values):
    """op of tensors, ragged ones among them, stretched to a common shape (see `stretch`)."""
    values = stretch(*values)
    return next(v for v in values if is_ragged(v)).with_flat_values(op(*map(flat, values)))


def _with_one_row(value):
    from penstock._src.ops.ragged import ragged_array_ops
    return ragged_array_ops.expand_dims(value, axis=0)


def _static_rows(value):
    return tensor_shape.dimension_value(value.shape[0])


def _stretch(sizes):
    """Of sizes of one dimension: the size of the result, and an assertion that each is that or 1. Scalars or vectors; a
    vector counts as 1 if all of it is 1."""
    is_one = [math_ops.reduce_all(math_ops.equal(size, 1)) for size in sizes]
    size = sizes[0]
    for other, one in zip(sizes[1:], is_one[1:]):
        size = array_ops.where_v2(one, size, other)
    checks = [check_ops.assert_equal(array_ops.where_v2(one, size, s), size,
                                     message="Unable to broadcast: dimension size mismatch")
              for s, one in zip(sizes, is_one)]
    return size, is_one, checks


def _of_as_many_rows(values):
    """The values with as many rows as the longest; those that have one have it repeated."""
    known = [_static_rows(v) for v in values]
    if None not in known and len(set(known)) == 1:
        return values
    dtype = next(v for v in values if is_ragged(v)).row_splits.dtype
    size, is_one, checks = _stretch([ragged_checks.nrows_of(v, dtype) for v in values])
    with ops.control_dependencies(checks):
        rows = math_ops.range(size)
    return [_gather(v, array_ops.where_v2(one, array_ops.zeros_like(rows), rows)) for v, one in zip(values, is_one)]


def _gather(params, indices):
    from penstock._src.ops.ragged import ragged_gather_ops
    return ragged_gather_ops.gather(params, indices)


def _of_same_rows(values):
    """Values that have as many rows each, with rows of the same lengths."""
    if not any(map(is_ragged, values)):
        return values
    dtype = next(v for v in values if is_ragged(v)).row_splits.dtype
    values = [v if is_ragged(v) else RaggedTensor.from_tensor(v, row_splits_dtype=dtype) for v in values]
    splits = values[0].row_splits
    if all(v.row_splits is splits for v in values):
        inner = [v.values for v in values]
    else:
        lengths, is_one, checks = _stretch([v.row_lengths() for v in values])
        with ops.control_dependencies(checks):
            splits = ragged_checks.splits_of(lengths)
        rows = ragged_checks.rowids_of(splits)
        columns = math_ops.range(splits[-1]) - array_ops.gather(splits, rows)
        inner = [_gather(v.values, array_ops.gather(v.row_starts(), rows)
                         + array_ops.where_v2(one, array_ops.zeros_like(columns), columns))
                 for v, one in zip(values, is_one)]
    return [RaggedTensor.from_row_splits(v, splits, validate=False) for v in _of_same_rows(inner)]
