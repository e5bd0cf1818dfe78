"""Reductions, running sums, sums over segments and over lists."""
import builtins
from collections import abc

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, indexed_slices, ops, sparse_tensor, tensor_shape
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops.array_create import fill, ones, zeros, zeros_like
from penstock._src.core_ops.array_shape import identity, rank, reshape, shape, shape_internal, size
from penstock._src.core_ops.array_slice import where
from penstock._src.core_ops.math_arith import cast, range

__all__ = [
    "_ReductionDims", "accumulate_n", "add_n", "argmax", "argmax_v2", "argmin", "argmin_v2", "bincount", "bincount_v1",
    "count_nonzero", "count_nonzero_v2", "cumprod", "cumsum", "cumulative_logsumexp", "reduce_all", "reduce_all_v1",
    "reduce_any", "reduce_any_v1", "reduce_euclidean_norm", "reduce_logsumexp", "reduce_logsumexp_v1", "reduce_max",
    "reduce_max_v1", "reduce_mean", "reduce_mean_v1", "reduce_min", "reduce_min_v1", "reduce_prod", "reduce_prod_v1",
    "reduce_std", "reduce_sum", "reduce_sum_v1", "reduce_variance", "reduced_shape", "sparse_segment_mean",
    "sparse_segment_mean_v2", "sparse_segment_sqrt_n", "sparse_segment_sqrt_n_v2", "sparse_segment_sum",
    "sparse_segment_sum_v2", "unsorted_segment_mean", "unsorted_segment_sqrt_n",
]


def _ReductionDims(x, axis, reduction_indices=None):
    """The axes to reduce: those given, or all of x."""
    axis = pick("axis", axis, "reduction_indices", reduction_indices)
    if axis is not None:
        return axis
    if isinstance(x, ops.Tensor) and x._is_eager:
        return list(builtins.range(x._rank()))
    count = x.get_shape().ndims if isinstance(x, ops.Tensor) else None
    if isinstance(x, sparse_tensor.SparseTensor):
        count = x.dense_shape.get_shape().num_elements()
    if count is not None:
        return constant_op.constant(np.arange(count), dtype=dtypes.int32)
    return range(0, rank(x))


def _scalar_if_all(keepdims, axis, output):
    """Reducing all axes gives a scalar, whatever is known about the input."""
    if not keepdims and axis is None and not output._is_eager and not output.get_shape().is_fully_defined():
        output.set_shape(())
    return output


_AXES = """

    axis: an integer, a list or a vector of them, in [-rank, rank); None reduces all dimensions, to a scalar.
    keepdims: whether the dimensions stay, with size 1."""


def _reduction(name, op_name, doc):
    """The two functions `name` (version 2's arguments) and `name`_v1 over the op."""
    doc += _AXES

    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        keepdims = False if keepdims is None else bool(keepdims)
        op = getattr(gen, op_name)
        return _scalar_if_all(keepdims, axis, op(input_tensor, _ReductionDims(input_tensor, axis), keepdims, name=name))

    return _named(reduce, name, doc), _with_old_names(reduce, name, doc)


def _with_old_names(reduce, name, doc):
    def reduce_v1(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = pick("axis", axis, "reduction_indices", reduction_indices)
        keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
        return reduce(input_tensor, axis, keepdims, name)

    return _named(reduce_v1, name, doc)


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


reduce_sum, reduce_sum_v1 = _reduction("reduce_sum", "sum", "The sum over the axes, or over all.")
reduce_mean, reduce_mean_v1 = _reduction("reduce_mean", "mean", "The mean over the axes, or over all.")
reduce_prod, reduce_prod_v1 = _reduction("reduce_prod", "prod", "The product over the axes, or over all.")
reduce_min, reduce_min_v1 = _reduction("reduce_min", "min", "The least element over the axes, or over all.")
reduce_max, reduce_max_v1 = _reduction("reduce_max", "max", "The greatest element over the axes, or over all.")
reduce_all, reduce_all_v1 = _reduction("reduce_all", "all", "Whether all elements are true.")
reduce_any, reduce_any_v1 = _reduction("reduce_any", "any", "Whether any element is true.")
reduce_euclidean_norm, _ = _reduction("reduce_euclidean_norm", "euclidean_norm", "The root of the sum of squares.")


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean squared distance from the mean."""
    with ops.name_scope(name or "reduce_variance"):
        input_tensor = ops.convert_to_tensor(input_tensor)
        if input_tensor.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {input_tensor.dtype}.")
        distances = input_tensor - reduce_mean(input_tensor, axis=axis, keepdims=True)
        if distances.dtype.is_complex:
            distances = gen.complex_abs(distances, Tout=distances.dtype.real_dtype)
        return reduce_mean(gen.square(distances), axis=axis, keepdims=keepdims)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation."""
    with ops.name_scope(name or "reduce_std"):
        return gen.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) without overflow."""
    keepdims = False if keepdims is None else keepdims
    input_tensor = ops.convert_to_tensor(input_tensor)
    with ops.name_scope(name, "ReduceLogSumExp", [input_tensor]) as name:
        greatest = reduce_max(input_tensor, axis=axis, keepdims=True)
        shift = gen.stop_gradient(where(gen.is_finite(greatest), greatest, zeros_like(greatest)))
        result = gen.log(reduce_sum(gen.exp(gen.sub(input_tensor, shift)), axis, keepdims=keepdims))
        if not keepdims:
            shift = reshape(shift, shape(result))
        return _scalar_if_all(keepdims, axis, gen.add(result, shift))


reduce_logsumexp_v1 = _with_old_names(reduce_logsumexp, "reduce_logsumexp", reduce_logsumexp.__doc__)


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):
    """How many elements are not zero (empty strings count as zero)."""
    keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = pick("input", input, "input_tensor", input_tensor)
    axis = pick("axis", axis, "reduction_indices", reduction_indices)
    return count_nonzero_v2(input_tensor, axis, keepdims, dtype, name)


def count_nonzero_v2(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements are not zero (empty strings count as zero)."""
    with ops.name_scope(name, "count_nonzero", [input]):
        input = ops.convert_to_tensor(input, name="input")
        marks = gen.not_equal(input, zeros([], dtype=input.dtype))
        return cast(reduce_sum(cast(marks, dtypes.int64), axis=axis, keepdims=keepdims), dtype=dtype)


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the greatest element along an axis, 0 if none is given; of equals the first.

    The result has one dimension less and is of `output_type`, int32 or int64.
    """
    return argmax_v2(input, pick("axis", axis, "dimension", dimension), output_type, name)


def argmax_v2(input, axis=None, output_type=dtypes.int64, name=None):
    return gen.arg_max(input, 0 if axis is None else axis, output_type=output_type, name=name)


argmax_v2.__doc__ = argmax.__doc__


def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the least element along an axis, 0 if none is given; of equals the first.

    The result has one dimension less and is of `output_type`, int32 or int64.
    """
    return argmin_v2(input, pick("axis", axis, "dimension", dimension), output_type, name)


def argmin_v2(input, axis=None, output_type=dtypes.int64, name=None):
    return gen.arg_min(input, 0 if axis is None else axis, output_type=output_type, name=name)


argmin_v2.__doc__ = argmin.__doc__


def reduced_shape(input_shape, axes):
    """The shape, as a tensor, of a reduction over `axes` that keeps the dimensions."""
    input_shape = cast(input_shape, dtypes.int32)
    axes = cast(axes, dtypes.int32)
    count = size(input_shape)
    axes = (axes + count) % count
    return gen.dynamic_stitch([range(count), axes], [input_shape, fill(shape(axes), 1)])


# Running sums


def _running(name, default_name, op_name, doc):
    def run(x, axis=0, exclusive=False, reverse=False, name=None):
        with ops.name_scope(name, default_name, [x]) as name:
            x = ops.convert_to_tensor(x, name="x")
            return getattr(gen, op_name)(x, axis, exclusive=exclusive, reverse=reverse, name=name)

    return _named(run, name, doc)


cumsum = _running("cumsum", "Cumsum", "cumsum", "Running sums; `exclusive` leaves out the element itself.")
cumprod = _running("cumprod", "Cumprod", "cumprod", "Running products; `exclusive` leaves out the element itself.")
cumulative_logsumexp = _running("cumulative_logsumexp", "CumulativeLogsumexp", "cumulative_logsumexp",
                                "Running log(sum(exp(x))).")

# Sums over lists

_DENSE_OR_SLICES = (ops.Tensor, indexed_slices.IndexedSlices)


def add_n(inputs, name=None):
    """The sum of tensors of one shape and type: of a list, or of anything that can be iterated over.

    IndexedSlices among them are added as dense tensors. ValueError: there are none, or their shapes differ.
    """
    error = "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
    if isinstance(inputs, abc.Iterable) and not isinstance(inputs, (ops.Tensor, str, bytes)):
        inputs = list(inputs)
    if not inputs or not isinstance(inputs, list):
        raise ValueError(error)
    inputs = ops.convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, _DENSE_OR_SLICES) for x in inputs):
        raise ValueError(error)
    if len(inputs) > 1:
        return gen.add_n(inputs, name=name)
    only = inputs[0]
    if isinstance(only, indexed_slices.IndexedSlices):
        only = ops.convert_to_tensor(only)
    return identity(only, name=name) if name else only


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """`add_n` of tensors whose shape is known."""
    error = ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise error
    inputs = ops.convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, ops.Tensor) and x.dtype == inputs[0].dtype for x in inputs):
        raise error
    known = tensor_shape.unknown_shape() if shape is None else tensor_shape.as_shape(shape)
    for x in inputs:
        known = known.merge_with(x.get_shape())
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}")
    if len(inputs) == 1:
        return inputs[0] if name is None else identity(inputs[0], name=name)
    return gen.accumulate_nv2(inputs, shape=known, name=name)


# Segments


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None):
    """How often each number from 0 on appears, or the sum of its weights."""
    with ops.name_scope("bincount" if name is None else name):
        arr = ops.convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        filled = reduce_prod(shape(arr)) > 0
        count = cast(filled, dtypes.int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            count = gen.maximum(ops.convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32), count)
        if maxlength is not None:
            count = gen.minimum(ops.convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32), count)
        if weights is not None:
            return gen.unsorted_segment_sum(ops.convert_to_tensor(weights, name="weights"), arr, count)
        return gen.bincount(arr, count, constant_op.constant([], dtype))


def bincount_v1(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number from 0 on appears, or the sum of its weights."""
    return bincount(arr, weights, minlength, maxlength, dtype)


def _segment_counts(data, segment_ids, num_segments):
    """The number of entries of each segment, at least 1, shaped to divide the sums."""
    each = ones(shape_internal(segment_ids), dtype=data.dtype)
    counts = gen.unsorted_segment_sum(each, segment_ids, num_segments)
    if data.shape.ndims is None or segment_ids.shape.ndims is None:
        from penstock._src.core_ops.array_join import concat
        inner = reshape(rank(data) - rank(segment_ids), [1])
        return gen.maximum(reshape(counts, concat([reshape(num_segments, [1]), ones(inner, dtypes.int32)], 0)), 1)
    inner = data.shape.ndims - segment_ids.shape.ndims
    return gen.maximum(reshape(counts, [num_segments] + [1] * inner), 1)


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the entries of each segment."""
    with ops.name_scope(name, "UnsortedSegmentMean"):
        data = ops.convert_to_tensor(data)
        segment_ids = ops.convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return gen.unsorted_segment_sum(data, segment_ids, num_segments) / counts


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the entries of each segment over the root of their number."""
    with ops.name_scope(name, "UnsortedSegmentSqrtN"):
        data = ops.convert_to_tensor(data)
        segment_ids = ops.convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return gen.unsorted_segment_sum(data, segment_ids, num_segments) / gen.sqrt(counts)


def _sparse_segment(kind, doc):
    def reduce(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
        if num_segments is None:
            return getattr(gen, "sparse_segment_" + kind)(data, indices, segment_ids, name=name)
        return getattr(gen, f"sparse_segment_{kind}_with_num_segments")(data, indices, segment_ids, num_segments,
                                                                        name=name)

    def reduce_v2(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
        return reduce(data, indices, segment_ids, name, num_segments)

    name = "sparse_segment_" + kind
    return _named(reduce, name, doc), _named(reduce_v2, name + "_v2", doc)


sparse_segment_sum, sparse_segment_sum_v2 = _sparse_segment(
    "sum", "The sum of the rows data[indices] of each segment.")
sparse_segment_mean, sparse_segment_mean_v2 = _sparse_segment(
    "mean", "The mean of the rows data[indices] of each segment.")
sparse_segment_sqrt_n, sparse_segment_sqrt_n_v2 = _sparse_segment(
    "sqrt_n", "The sum of the rows data[indices] of each segment over the root of their number.")
