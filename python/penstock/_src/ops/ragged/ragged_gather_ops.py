"""Gathering rows of ragged tensors, and by ragged indices."""
from penstock._src.graph import gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.ragged import ragged_checks
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The rows of `params` that `indices` names; either may be ragged.

    Shape: params.shape[:axis] + indices.shape + params.shape[axis + 1:]; with batch_dims: that within each batch.
    ValueError: an axis behind the first one that follows the batch dimensions, or an unknown rank of `indices`.
    """
    del validate_indices
    if axis is None:
        axis = batch_dims if not isinstance(batch_dims, int) or batch_dims >= 0 else \
            ragged_checks.get_positive_axis(batch_dims, indices.shape.ndims, "batch_dims")
    if not isinstance(batch_dims, int) or not isinstance(axis, int):
        raise ValueError("axis and batch_dims must be constants for a ragged gather.")
    if axis < 0:
        axis = ragged_checks.get_positive_axis(axis, params.shape.ndims)
    if batch_dims == 0 and axis > 0:
        return _of_each_row(params, indices, axis, name)
    if batch_dims:
        if batch_dims < 0:
            batch_dims = ragged_checks.get_positive_axis(batch_dims, indices.shape.ndims, "batch_dims")
        if axis < batch_dims:
            raise ValueError(f"axis={axis} must be at least batch_dims={batch_dims}")
        return _within_batches(params, indices, batch_dims, axis, name)
    with ops.name_scope(name, "RaggedGather", [params, indices]):
        params, indices = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(params, name="params"),
                                                  convert_to_tensor_or_ragged_tensor(indices, name="indices"))
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if not is_ragged(params):
            return array_ops.gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("rank(indices) must be known statically")
        if indices.shape.ndims == 0:
            return gather(params, array_ops.expand_dims(indices, 0)).values
        rank = indices.shape.ndims + params.ragged_rank - 1
        splits, values = gen.ragged_gather(params.nested_row_splits, params.flat_values, indices,
                                           OUTPUT_RAGGED_RANK=rank)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _of_each_row(params, indices, axis, name):
    """What the same `indices` name in each row of dimension `axis` > 0. InvalidArgumentError: a row too short."""
    with ops.name_scope(name, "RaggedGather", [params, indices]):
        params, indices = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(params, name="params"),
                                                  convert_to_tensor_or_ragged_tensor(indices, name="indices"))
        if not is_ragged(params):
            if not is_ragged(indices):
                return array_ops.gather(params, indices, axis=axis)
            params = _as_ragged(params, indices.row_splits.dtype)
        if axis > 1:
            return params.with_values(gather(params.values, indices, axis=axis - 1))
        starts, flat = params.row_starts(), indices.flat_values if is_ragged(indices) else indices
        flat = math_ops.cast(flat, starts.dtype)
        beside = [-1] + [1] * flat.shape.ndims
        shortest = array_ops.reshape(params.row_lengths(), beside)
        with ops.control_dependencies([check_ops.assert_less(flat, shortest, message="Index out of range")]):
            flat = array_ops.reshape(starts, beside) + flat
        if not is_ragged(indices):
            return gather(params.values, flat)
        shape = array_ops.shape(flat)
        found = gather(params.values, array_ops.reshape(flat, array_ops.concat([[-1], shape[2:]], 0)))
        for lengths in reversed(indices.nested_row_lengths()):  # each row has all rows of the indices
            found = RaggedTensor.from_row_lengths(found, gen.tile(lengths, shape[:1]), validate=False)
        return RaggedTensor.from_uniform_row_length(found, indices.nrows(), params.nrows(), validate=False)


def batch_gather(params, indices, name=None):
    """`gather` within each batch: all dimensions of `indices` but the last are batch dimensions.

    ValueError: batch dimensions that differ, or an unknown rank of `indices`.
    """
    if not is_ragged(params) and not is_ragged(indices):
        return array_ops.batch_gather(params, indices, name)
    with ops.name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(params, name="params"),
                                                  convert_to_tensor_or_ragged_tensor(indices, name="indices"))
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_dims=-1 may only be negative if rank(indices) is statically known.")
        if rank == 0:
            raise ValueError("batch_dims=-1 out of bounds: expected 0<=batch_dims<0")
        if params.shape.ndims is not None and params.shape.ndims < rank:
            raise ValueError("batch_dims must be less than rank(params)")
        if rank == 1:
            return gather(params, indices)
        return _within_batches(params, indices, rank - 1, rank - 1, None)


def _within_batches(params, indices, batch_dims, axis, name):
    """gather along `axis` behind `batch_dims` dimensions that both have in common."""
    with ops.name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(params, name="params"),
                                                  convert_to_tensor_or_ragged_tensor(indices, name="indices"))
        if not indices.shape[:batch_dims].is_compatible_with(params.shape[:batch_dims]):
            raise ValueError(f"batch shape from indices {indices.shape[:batch_dims]} does not match params shape "
                             f"{params.shape}")
        if not is_ragged(params) and not is_ragged(indices):
            return array_ops.gather(params, indices, axis=axis, batch_dims=batch_dims)
        dtype = next(x for x in (params, indices) if is_ragged(x)).row_splits.dtype
        params = _as_ragged(params, dtype)
        if batch_dims > 1:
            indices = _as_ragged(indices, dtype)
            same = check_ops.assert_equal(params.row_splits, indices.row_splits)
            with ops.control_dependencies([same]):
                return indices.with_values(
                    _within_batches(params.values, indices.values, batch_dims - 1, axis - 1, None))
        if axis > 1:  # each row of a batch has the indices of its batch
            of_rows = gather(indices, params.value_rowids())
            return params.with_values(_within_batches(params.values, of_rows, 1, axis - 1, None))
        starts, lengths = params.row_starts(), params.row_lengths()
        inner = indices
        while is_ragged(inner):
            rows = inner.value_rowids()
            starts, lengths, inner = array_ops.gather(starts, rows), array_ops.gather(lengths, rows), inner.values
        inner = math_ops.cast(inner, dtype)
        beside = [-1] + [1] * (inner.shape.ndims - 1)
        lengths = array_ops.reshape(lengths, beside)
        with ops.control_dependencies([check_ops.assert_less(inner, lengths, message="Index out of range")]):
            inner = inner + array_ops.reshape(starts, beside)
        return gather(params.values, indices.with_flat_values(inner) if is_ragged(indices) else inner)


def _as_ragged(value, dtype):
    return value if is_ragged(value) else RaggedTensor.from_tensor(value, row_splits_dtype=dtype)


def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The parts of `params` that the last dimension of `indices` names; either may be ragged.

    Shape: indices.shape[:-1] + params.shape[indices.shape[-1]:]. ValueError: the size of the last dimension of
    `indices` is not known or ragged, or a policy for bad indices.
    """
    if not isinstance(batch_dims, int) or batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if bad_indices_policy not in ("", "DEFAULT"):
        raise ValueError("non-default bad_indices_policy not supported for ragged gather")
    if not is_ragged(params) and not is_ragged(indices):
        return array_ops.gather_nd(params, indices, name)
    with ops.name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(params, name="params"),
                                                  convert_to_tensor_or_ragged_tensor(indices, name="indices"))
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices) and rank == indices.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        depth = tensor_shape.dimension_value(indices.shape[-1])
        if depth is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if rank > 2:
            return _by_many(params, indices, rank)
        if depth == 0:
            return _repeated(params, indices, rank)
        if depth == 1:
            return gather(params, array_ops.reshape(indices, [-1]))
        return _by_tuples(params, math_ops.cast(indices, params.row_splits.dtype), depth)


def _by_many(params, indices, rank):
    """gather_nd by indices of more than two dimensions."""
    if is_ragged(indices):
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    nested = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype)
    result = nested.with_flat_values(gather_nd(params, nested.flat_values))
    # What was uniform in `indices` is uniform in the result.
    return result.to_tensor() if result.ragged_rank == rank - 2 else result


def _repeated(params, indices, rank):
    """Empty index tuples: all of `params`, as often as there are tuples."""
    from penstock._src.ops.ragged import ragged_array_ops
    ndims = params.ragged_rank + array_ops.rank(params.flat_values)
    for _ in range(rank - 1):
        params = ragged_array_ops.expand_dims(params, axis=0)
    counts = array_ops.shape(indices)[:-1]
    return ragged_array_ops.tile(params, array_ops.concat(
        [counts, array_ops.ones(array_ops.expand_dims(ndims, 0), counts.dtype)], axis=0))


def _by_tuples(params, indices, depth):
    """gather_nd by tuples of at least two places: step by step the place in the values below."""
    place = array_ops.gather(params.row_splits, indices[..., 0]) + indices[..., 1]
    values = params.values
    for dim in range(2, depth):
        if not is_ragged(values):
            rest = array_ops.concat([array_ops.expand_dims(place, -1), indices[..., dim:]], axis=-1)
            return array_ops.gather_nd(values, rest)
        place = array_ops.gather(values.row_starts(), place) + indices[..., dim]
        values = values.values
    return gather(values, place)
