"""Partitions of values into rows: checks of them, and one made of another."""
from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.core_ops import array_join, array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops


repeat = array_join.repeat_with_axis
get_positive_axis = array_join.get_positive_axis


def require_bool(validate):
    """TypeError unless `validate` is one."""
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def require_enough_rows(nrows, value_rowids):
    """ValueError if fewer rows are given than the ids of rows name, as far as both are known (else None)."""
    if nrows is None:
        return
    if nrows < 0:
        raise ValueError(f"Expected nrows >= 0; got {nrows}")
    if value_rowids is not None and value_rowids.size and nrows < value_rowids[-1] + 1:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={nrows}, "
                         f"value_rowids[-1]={value_rowids[-1]}")


def nrows_of(values, out_type=dtypes.int32):
    """The number of rows of a tensor, ragged or not."""
    return array_ops.shape(values, out_type=out_type)[0] if isinstance(values, ops.Tensor) else values.nrows(out_type)


def assert_splits_match(nested_splits_lists):
    """Assertions that all lists of splits are the same. ValueError: lists of several lengths."""
    message = "Inputs must have identical ragged splits"
    first = nested_splits_lists[0]
    if any(len(splits) != len(first) for splits in nested_splits_lists):
        raise ValueError(message)
    return [check_ops.assert_equal(a, b, message=message)
            for splits in nested_splits_lists[1:] for a, b in zip(first, splits) if a is not b]


def splits_of(lengths):
    """Row splits from row lengths."""
    return array_ops.concat([constant_op.constant([0], lengths.dtype), math_ops.cumsum(lengths)], axis=0)


def rowids_of(splits):
    """The number of the row that each value belongs to."""
    lengths = splits[1:] - splits[:-1]
    rows = math_ops.range(array_ops.shape(splits, out_type=splits.dtype)[-1] - 1)
    return array_ops.repeat(rows, lengths, axis=0)


def _sorted(tensor, message):
    return check_ops.assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _zero(tensor, message):
    return check_ops.assert_equal(tensor, constant_op.constant(0, dtype=tensor.dtype), message=message)


def _checked(partition, values, checks):
    if isinstance(values, ops.Tensor):
        checks.append(check_ops.assert_rank_at_least(values, 1))
    return control_flow_ops.with_dependencies(checks, partition)


def checked_rowids(values, rowids, nrows):
    """The rows' numbers, with assertions."""
    message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
    count, given = nrows_of(values), nrows_of(rowids)
    return _checked(rowids, values, [
        check_ops.assert_rank(rowids, 1, message=message), check_ops.assert_rank(nrows, 0, message=message),
        check_ops.assert_equal(count, given, message=message),
        check_ops.assert_non_negative(rowids[:1], message=message), _sorted(rowids, message),
        check_ops.assert_less(rowids[-1:], nrows, message=message)])


def checked_splits(values, splits):
    """The splits, with assertions."""
    message = "Arguments to from_row_splits do not form a valid RaggedTensor"
    count = nrows_of(values, splits.dtype)
    return _checked(splits, values, [
        check_ops.assert_rank(splits, 1, message=message), _zero(splits[0], message), _sorted(splits, message),
        check_ops.assert_equal(splits[-1], count, message=message)])


def checked_lengths(values, lengths):
    """The lengths, with assertions."""
    message = "Arguments to from_row_lengths do not form a valid RaggedTensor"
    total, count = math_ops.reduce_sum(lengths), nrows_of(values, lengths.dtype)
    return _checked(lengths, values, [
        check_ops.assert_rank(lengths, 1, message=message), check_ops.assert_non_negative(lengths, message=message),
        check_ops.assert_equal(total, count, message=message)])


def checked_starts(values, starts, count):
    """The beginnings, with assertions."""
    message = "Arguments to from_row_starts do not form a valid RaggedTensor"
    return _checked(starts, values, [
        check_ops.assert_rank(starts, 1, message=message), _zero(starts[:1], message), _sorted(starts, message),
        check_ops.assert_less_equal(starts[-1:], count, message=message)])


def checked_limits(values, limits):
    """The ends, with assertions."""
    message = "Arguments to from_row_limits do not form a valid RaggedTensor"
    count = nrows_of(values, limits.dtype)
    return _checked(limits, values, [
        check_ops.assert_rank(limits, 1, message=message),
        check_ops.assert_non_negative(limits[:1], message=message), _sorted(limits, message),
        check_ops.assert_equal(limits[-1:], count, message=message)])


def checked_uniform(splits, total, count):
    """The splits of rows of one length, with an assertion that they take up all values."""
    return control_flow_ops.with_dependencies(
        [check_ops.assert_equal(total, count, message="uniform_row_length * nrows must equal the number of values")],
        splits)


def assert_without_gaps(indices):
    """An assertion that a sparse tensor's rows begin at 0 and have no gaps."""
    prefix, suffix = indices[:, :-1], indices[:, -1]
    next_row = math_ops.reduce_any(math_ops.not_equal(prefix[1:], prefix[:-1]), axis=1)
    good = array_ops.where(next_row, math_ops.equal(suffix[1:], 0), math_ops.equal(suffix[1:], suffix[:-1] + 1))
    all_good = gen.logical_and(math_ops.reduce_all(math_ops.equal(suffix[:1], 0)), math_ops.reduce_all(good))
    return control_flow_ops.Assert(all_good, ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices])


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The number of the row that each value belongs to."""
    with ops.name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = ops.convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.shape[0] == 0:
            raise ValueError("Invalid row_splits: []")
        ids = rowids_of(splits)
        return ids if out_type is None else math_ops.cast(ids, out_type)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where each row begins, from the rows' numbers."""
    if out_type is None:
        tensors = [t for t in (segment_ids, num_segments) if isinstance(t, ops.Tensor)]
        out_type = tensors[0].dtype if tensors else dtypes.int64
    with ops.name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = math_ops.cast(ops.convert_to_tensor(segment_ids, name="segment_ids"), dtypes.int32)
        ids.shape.assert_has_rank(1)
        if num_segments is not None:
            num_segments = math_ops.cast(ops.convert_to_tensor(num_segments, name="num_segments"), dtypes.int32)
            num_segments.shape.assert_has_rank(0)
        lengths = math_ops.bincount(ids, minlength=num_segments, maxlength=num_segments,
                                    dtype=dtypes.as_dtype(out_type))
        return splits_of(lengths)


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """A ragged tensor of ranges."""
    from penstock._src.ops.ragged import ragged_tensor
    if limits is None:
        starts, limits = 0, starts
    with ops.name_scope(name, "RaggedRange", [starts, limits, deltas]):
        starts, limits, deltas = (ops.convert_to_tensor(x, dtype=dtype, name=n) for x, n in
                                  ((starts, "starts"), (limits, "limits"), (deltas, "deltas")))
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            common = max((x.dtype for x in (starts, limits, deltas)), key=order.index)
            starts, limits, deltas = (math_ops.cast(x, common) for x in (starts, limits, deltas))
        splits, values = gen.ragged_range(starts, limits, deltas, Tsplits=dtypes.as_dtype(row_splits_dtype), name=name)
        return ragged_tensor.RaggedTensor.from_row_splits(values, splits, validate=False)
