"""Masks, tiles, dimensions and partitions of ragged tensors."""
from penstock._src.graph import dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.core_ops import array_ops, math_ops, sort_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.ragged import ragged_checks, ragged_gather_ops
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def boolean_mask(data, mask, name=None):
    """The elements of `data` where `mask` holds, in rows as those of `mask`; either may be ragged.

    The rank of the result is that of `data`. ValueError: a mask of unknown rank, or a scalar.
    """
    with ops.name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        dtype, (data, mask) = match_row_splits_dtypes(data, mask, return_dtype=True)
        rank = mask.shape.ndims
        if rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if rank == 1:
            return _rows_where(data, mask)
        if not is_ragged(mask):
            depth = min(data.ragged_rank, rank - 1) if is_ragged(data) else rank - 1
            mask = RaggedTensor.from_tensor(mask, ragged_rank=depth, row_splits_dtype=dtype)
        if not is_ragged(data):
            data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=dtype)
        same = ragged_checks.assert_splits_match([mask.nested_row_splits, data.nested_row_splits[:mask.ragged_rank]])
        with ops.control_dependencies(same):
            return _masked(data, mask, rank, dtype)


def _masked(data, mask, rank, dtype):
    if rank == 1:
        return _rows_where(data, mask)
    if not is_ragged(mask):
        return boolean_mask(data, mask)
    splits = mask.row_splits
    if rank == 2:
        # Rows begin as many elements earlier as were left out before them.
        kept = ragged_checks.splits_of(math_ops.cast(mask.values, dtype))
        splits = array_ops.gather(kept, splits)
    return RaggedTensor.from_row_splits(_masked(data.values, mask.values, rank - 1, dtype), splits, validate=False)


def _rows_where(data, mask):
    """Whole rows."""
    if not is_ragged(data):
        return array_ops.boolean_mask(data, mask)
    lengths = array_ops.boolean_mask(data.row_lengths(), mask)
    values = boolean_mask(data.values, array_ops.gather(mask, data.value_rowids()))
    return RaggedTensor.from_row_splits(values, ragged_checks.splits_of(lengths), validate=False)


def tile(input, multiples, name=None):
    """The tensor repeated `multiples[i]` times along each dimension i."""
    with ops.name_scope(name, "RaggedTile", [input, multiples]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return gen.tile(input, multiples, name)
        multiples = math_ops.cast(ops.convert_to_tensor(multiples, name="multiples"), input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = tensor_util.constant_value(multiples)
        inner = _tiled_inside(input, multiples, None if known is None else known.tolist())
        rows = gen.tile(math_ops.range(inner.nrows()), multiples[:1])
        tiled = ragged_gather_ops.gather(inner, rows)
        count = tensor_shape.dimension_value(input.shape[0])
        if known is not None and count is not None and not tiled.row_splits._is_eager:
            tiled.row_splits.set_shape([count * int(known[0]) + 1])
        return tiled


def _tiled_inside(value, multiples, known):
    """The value repeated along all dimensions but the outermost. known: `multiples` as numbers, or None."""
    if not is_ragged(value):
        ones = array_ops.ones([1], multiples.dtype)
        return gen.tile(value, array_ops.concat([ones, multiples[1:]], axis=0))
    values = _tiled_inside(value.values, multiples[1:], known and known[1:])
    if known and known[1] == 1:
        return value.with_values(values)
    # Each row's range of values as often as it is repeated.
    times = multiples[1]
    starts = array_ops.repeat(value.row_starts(), times, axis=0)
    limits = array_ops.repeat(value.row_limits(), times, axis=0)
    places = gen.ragged_range(starts, limits, array_ops.ones([], starts.dtype), Tsplits=starts.dtype)[1]
    return RaggedTensor.from_row_splits(ragged_gather_ops.gather(values, places), value.row_splits * times,
                                        validate=False)


def expand_dims(input, axis, name=None):
    """The tensor with a new dimension of size 1 at `axis`. Behind a ragged dimension's place it is uniform."""
    with ops.name_scope(name, "RaggedExpandDims", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return array_ops.expand_dims(input, axis)
        ndims = input.shape.ndims
        axis = ragged_checks.get_positive_axis(axis, None if ndims is None else ndims + 1)
        if axis == 0:
            count = tensor_shape.dimension_value(input.shape[0])
            count = input.nrows() if count is None else ops.convert_to_tensor(count, input.row_splits.dtype)
            return RaggedTensor.from_uniform_row_length(input, count, nrows=1, validate=False)
        if axis == 1:
            return RaggedTensor.from_uniform_row_length(input, 1, nrows=input.nrows(), validate=False)
        return input.with_values(expand_dims(input.values, axis - 1))


def squeeze(input, axis=None, name=None):
    """The tensor without the dimensions `axis`, which must be of size 1. ValueError: no axis for a ragged tensor."""
    with ops.name_scope(name, "RaggedSqueeze", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        if not is_ragged(input):
            return array_ops.squeeze(input, axis, name)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        if isinstance(axis, int):
            axis = [axis]
        elif not isinstance(axis, (list, tuple)) or not all(isinstance(d, int) for d in axis):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = [ragged_checks.get_positive_axis(d, input.shape.ndims) for d in axis]
        rank, splits = input.ragged_rank, input.nested_row_splits
        ones = [_assert_size_one(math_ops.equal(lengths, 1), level + 1)
                for level, lengths in enumerate(input.nested_row_lengths()) if level + 1 in axes]
        if 0 in axes:
            ones.append(_assert_size_one(math_ops.equal(array_ops.size(splits[0]), 2), 0))
        flat = control_flow_ops.with_dependencies(ones, input.flat_values)
        dense = [d - rank for d in axes if d > rank]
        if dense:
            flat = array_ops.squeeze(flat, dense)
        # A ragged dimension that goes takes its splits along; the outermost one those of the next.
        left = [s for level, s in enumerate(splits) if level + 1 not in axes]
        return _without_outermost(flat, left) if 0 in axes else RaggedTensor.from_nested_row_splits(
            flat, left, validate=False) if left else flat


def _without_outermost(flat, splits):
    if not splits:
        return array_ops.squeeze(flat, [0])
    return RaggedTensor.from_nested_row_splits(flat, splits[1:], validate=False) if splits[1:] else flat


def _assert_size_one(holds, axis):
    return control_flow_ops.Assert(math_ops.reduce_all(holds), [f"the given axis (axis = {axis}) is not squeezable!"])


def size(input, out_type=dtypes.int32, name=None):
    """The number of values."""
    return array_ops.size(input.flat_values if is_ragged(input) else input, out_type=out_type, name=name)


def rank(input, name=None):
    """The number of dimensions."""
    with ops.name_scope(name, "RaggedRank", [input]) as scope:
        if not is_ragged(input):
            return array_ops.rank(input, scope)
        return input.ragged_rank + array_ops.rank(input.flat_values)


def split(value, num_or_size_splits, axis=0, num=None, name=None):
    """Pieces along a dimension that is not ragged: a number of equal ones, or one of each size.

    ValueError: sizes that do not add up, or a ragged dimension.
    """
    with ops.name_scope(name, "RaggedSplit"):
        value = convert_to_tensor_or_ragged_tensor(value)
        axis = ragged_checks.get_positive_axis(axis, value.shape.ndims)
        if 0 < axis <= value.ragged_rank:
            raise ValueError(f"ragged dimension {axis} cannot be split")
        if axis > 0:
            parts = array_ops.split(value.flat_values, num_or_size_splits, axis - value.ragged_rank, num)
            return [value.with_flat_values(part) for part in parts]
        places = array_ops.split(math_ops.range(value.nrows(out_type=dtypes.int64)), num_or_size_splits, 0, num)
        return [ragged_gather_ops.gather(value, place) for place in places]


def ragged_one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """tf.one_hot of the values; the new dimension is `axis` of the result, the last one by default. ValueError: a new
    dimension before the last ragged one."""
    with ops.name_scope(name, "RaggedOneHot", [indices]):
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None and axis != -1:
            axis = ragged_checks.get_positive_axis(axis, indices.shape.ndims + 1)
            if axis <= indices.ragged_rank:
                raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
            axis -= indices.ragged_rank
        return indices.with_flat_values(
            array_ops.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name))


def reverse(tensor, axis, name=None):
    """The tensor with the order along each of `axis` reversed."""
    if axis is None:
        raise ValueError("`axis` cannot be None: provide an axis or a list of them")
    with ops.name_scope(name, "Reverse", [tensor, axis]):
        tensor = convert_to_tensor_or_ragged_tensor(tensor, name="tensor")
        for dim in axis if isinstance(axis, (list, tuple)) else [axis]:
            dim = ragged_checks.get_positive_axis(dim, tensor.shape.ndims)
            tensor = tensor[(slice(None),) * dim + (slice(None, None, -1),)]
        return tensor


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """A ragged tensor of `num_partitions` rows: row i holds the slices of `data` whose partition is i, in their order.

    `partitions` (int32 or int64) has the first dimensions of `data`. InvalidArgumentError: a partition too large.
    """
    with ops.name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        own = data.row_splits.dtype if is_ragged(data) else None
        partitions = convert_to_tensor_or_ragged_tensor(partitions, name="partitions", preferred_dtype=own)
        num_partitions = ops.convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if own is not None:
            partitions = _cast(partitions, own)
        num_partitions = math_ops.cast(num_partitions, partitions.dtype)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank.")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        return _partitioned(data, partitions, num_partitions, rank)


def _cast(value, dtype):
    return value.with_flat_values(math_ops.cast(value.flat_values, dtype)) if is_ragged(value) \
        else math_ops.cast(value, dtype)


def _partitioned(data, partitions, count, rank):
    if rank == 0:
        from penstock._src.ops.ragged import ragged_concat_ops
        return RaggedTensor.from_value_rowids(ragged_concat_ops.stack_v1([data]), array_ops.stack([partitions]), count,
                                              validate=False)
    if rank == 1:
        order = sort_ops.argsort(partitions, stable=True)
        rows = array_ops.gather(partitions, order)
        small = check_ops.assert_less(rows[-1:], count, message="partitions must be less than num_partitions")
        with ops.control_dependencies([small]):
            return RaggedTensor.from_value_rowids(ragged_gather_ops.gather(data, order), rows, count, validate=False)
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.dtype, ragged_rank=1)
    if not is_ragged(partitions):
        partitions = RaggedTensor.from_tensor(partitions, row_splits_dtype=data.row_splits.dtype,
                                              ragged_rank=max(data.ragged_rank, rank - 1))
    same = check_ops.assert_equal(data.row_splits, partitions.row_splits,
                                  message="data and partitions have incompatible ragged shapes")
    with ops.control_dependencies([same]):
        return _partitioned(data.values, partitions.values, count, rank - 1)


def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of the ragged tensor's parts. TypeError: a number of partitions that is not a natural number."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stacked = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [stacked[i] for i in range(num_partitions)]


def fill_empty_rows(ragged_input, default_value, name=None):
    """(the ragged tensor with one of `default_value` in each row that has none, which rows these are).

    ragged_input: of one ragged dimension, with scalars in its rows.
    """
    with ops.name_scope(name, "RaggedFillEmptyRows", [ragged_input]):
        if not is_ragged(ragged_input):
            raise TypeError(f"ragged_input must be RaggedTensor, got {type(ragged_input)}")
        values = ragged_input.values
        rows, values, is_empty, _ = gen.ragged_fill_empty_rows(
            math_ops.cast(ragged_input.value_rowids(), dtypes.int64), values,
            math_ops.cast(ragged_input.nrows(), dtypes.int64), math_ops.cast(default_value, values.dtype)
            if values.dtype != dtypes.string else default_value)
        filled = RaggedTensor.from_value_rowids(values, rows, math_ops.cast(ragged_input.nrows(), dtypes.int64),
                                                validate=False)
        return filled, is_empty
