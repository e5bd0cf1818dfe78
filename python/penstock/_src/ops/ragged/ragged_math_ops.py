"""Sums and the like of ragged tensors: along dimensions, and of rows that belong together."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.ragged import ragged_checks, ragged_functional_ops
from penstock._src.ops.ragged.ragged_checks import range  # noqa: A004 (tf.ragged's name)
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)


def _segments(combine, data, segment_ids, num_segments):
    """Combines the rows of `data` that have the same segment id; a row of the result is as long as the longest of them.

    combine(data, segment_ids, num_segments) does so for tensors.
    """
    if not is_ragged(data) and not is_ragged(segment_ids):
        return combine(data, segment_ids, num_segments)
    data, segment_ids = match_row_splits_dtypes(convert_to_tensor_or_ragged_tensor(data, name="data"),
                                                convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids"))
    if segment_ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("segment_ids must have dtype int32 or int64.")
    if is_ragged(segment_ids):
        if not is_ragged(data):
            raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is "
                             "not.")
        same = check_ops.assert_equal(segment_ids.row_splits, data.row_splits,
                                      message="segment_ids.shape must be a prefix of data.shape")
        with ops.control_dependencies([same]):
            return _segments(combine, data.values, segment_ids.values, num_segments)
    lengths = data.row_lengths()
    longest = gen.maximum(gen.unsorted_segment_max(lengths, segment_ids, num_segments), 0)
    splits = ragged_checks.splits_of(longest)
    starts = array_ops.gather(splits, segment_ids)
    places = range(starts, starts + lengths, row_splits_dtype=splits.dtype).values
    return RaggedTensor.from_row_splits(_segments(combine, data.values, places, splits[-1]), splits, validate=False)


def _segment_function(kind, combine, doc):
    def segment(data, segment_ids, num_segments, name=None):
        with ops.name_scope(name, "RaggedSegment" + kind, [data, segment_ids, num_segments]):
            return _segments(combine, data, segment_ids, num_segments)

    segment.__doc__ = doc + " of the rows that have the same segment id."
    return segment


segment_sum = _segment_function("Sum", gen.unsorted_segment_sum, "The sum")
segment_prod = _segment_function("Prod", gen.unsorted_segment_prod, "The product")
segment_min = _segment_function("Min", gen.unsorted_segment_min, "The smallest")
segment_max = _segment_function("Max", gen.unsorted_segment_max, "The largest")


def _ones_like(data):
    return data.with_flat_values(array_ops.ones_like(data.flat_values)) if is_ragged(data) \
        else array_ops.ones_like(data)


def _quotient(total, count):
    """total / count, of the same rows."""
    return total.with_flat_values(total.flat_values / count.flat_values) if is_ragged(total) else total / count


def segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows that have the same segment id."""
    with ops.name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data)
        return _quotient(segment_sum(data, segment_ids, num_segments),
                         segment_sum(_ones_like(data), segment_ids, num_segments))


def segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows that have the same segment id, divided by the square root of their number."""
    with ops.name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data)
        count = segment_sum(_ones_like(data), segment_ids, num_segments)
        root = count.with_flat_values(math_ops.sqrt(count.flat_values)) if is_ragged(count) else math_ops.sqrt(count)
        return _quotient(segment_sum(data, segment_ids, num_segments), root)


def ragged_reduce_aggregate(reduce_op, unsorted_segment_op, rt_input, axis, keepdims, separator=None, name=None):
    """Reduces along dimensions, one after the other, so the two functions must be associative.

    reduce_op(tensor, axis, name=) along uniform dimensions, unsorted_segment_op(data, ids, count) along ragged ones;
    both get `separator` too if there is one. ValueError: an axis that is not known, or out of range.
    """
    options = {} if separator is None else {"separator": separator}
    if not is_ragged(rt_input):
        return reduce_op(rt_input, axis, keepdims=keepdims, name=name, **options)
    if isinstance(axis, ops.Tensor):
        axis = tensor_util.constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
    if isinstance(axis, np.ndarray):
        axis = axis.tolist()
    rt_input = convert_to_tensor_or_ragged_tensor(rt_input, name="rt_input")
    if axis is None:
        result = reduce_op(rt_input.flat_values, None, keepdims=keepdims, name=name, **options)
        if keepdims:
            for _ in rt_input.nested_row_splits:
                result = array_ops.expand_dims(result, axis=0)
        return result
    with ops.name_scope(name, "RaggedReduce", [rt_input]):
        axes = [axis] if not isinstance(axis, (list, tuple)) else axis
        axes = sorted({ragged_checks.get_positive_axis(a, rt_input.shape.ndims) for a in axes}, reverse=True)
        combine = lambda data, ids, count: unsorted_segment_op(data, ids, count, **options)
        reduce = lambda data, axis: reduce_op(data, axis, keepdims=keepdims, **options)
        for a in axes:
            rt_input = _reduced(reduce, combine, rt_input, a, keepdims)
        return rt_input


def _reduced(reduce, combine, value, axis, keepdims):
    from penstock._src.ops.ragged import ragged_array_ops
    if not is_ragged(value):
        return reduce(value, axis)
    if axis > 1:
        return value.with_values(_reduced(reduce, combine, value.values, axis - 1, keepdims))
    if axis == 1:
        ids, count = value.value_rowids(), value.nrows()
    else:
        lengths = value.row_lengths()
        count = gen.maximum(math_ops.reduce_max(lengths), 0)
        ids = range(lengths, row_splits_dtype=lengths.dtype).values
    result = _segments(combine, value.values, ids, count)
    return ragged_array_ops.expand_dims(result, axis=axis) if keepdims else result


def _reduce_function(kind, reduce_op, segment_op, doc):
    def reduce(input_tensor, axis=None, keepdims=None, name=None):
        return ragged_reduce_aggregate(reduce_op, segment_op, input_tensor, axis, keepdims,
                                       name=name or "RaggedReduce" + kind)

    reduce.__doc__ = doc + " along dimensions, ragged or not."
    return reduce


reduce_sum = _reduce_function("Sum", math_ops.reduce_sum, gen.unsorted_segment_sum, "The sum")
reduce_prod = _reduce_function("Prod", math_ops.reduce_prod, gen.unsorted_segment_prod, "The product")
reduce_min = _reduce_function("Min", math_ops.reduce_min, gen.unsorted_segment_min, "The smallest")
reduce_max = _reduce_function("Max", math_ops.reduce_max, gen.unsorted_segment_max, "The largest")


def reduce_mean(input_tensor, axis=None, keepdims=None, name=None):
    """The mean along dimensions; NaN of no elements."""
    with ops.name_scope(name, "RaggedReduceMean", [input_tensor]):
        input_tensor = convert_to_tensor_or_ragged_tensor(input_tensor)
        return _quotient(reduce_sum(input_tensor, axis, keepdims),
                         reduce_sum(_ones_like(input_tensor), axis, keepdims))


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance along dimensions."""
    with ops.name_scope(name, "RaggedReduceVariance", [input_tensor]):
        input_tensor = convert_to_tensor_or_ragged_tensor(input_tensor)
        if input_tensor.dtype.is_integer:
            input_tensor = input_tensor.with_flat_values(math_ops.cast(input_tensor.flat_values, dtypes.float64))
        squares = input_tensor.with_flat_values(math_ops.square(input_tensor.flat_values))
        mean, of_squares = reduce_mean(input_tensor, axis, keepdims), reduce_mean(squares, axis, keepdims)
        if not is_ragged(mean):
            return gen.maximum(of_squares - math_ops.square(mean), 0)
        return mean.with_flat_values(
            gen.maximum(of_squares.flat_values - math_ops.square(mean.flat_values), 0))


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation along dimensions."""
    with ops.name_scope(name, "RaggedReduceStd", [input_tensor]):
        variance = reduce_variance(input_tensor, axis, keepdims)
        return variance.with_flat_values(math_ops.sqrt(variance.flat_values)) if is_ragged(variance) \
            else math_ops.sqrt(variance)


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None):
    """log(sum(exp(elements))) along dimensions, ragged or not. The greatest element is taken out, so that nothing
    overflows; rows without elements give -inf."""
    value = convert_to_tensor_or_ragged_tensor(input_tensor, name="rt_input")
    if axis is None and not keepdims:
        return math_ops.reduce_logsumexp(value.flat_values, name=name)
    with ops.name_scope(name, "RaggedReduceLogsumexp", [value]):
        greatest = _finite(reduce_max(value, axis, keepdims=True))
        shifted = ragged_functional_ops.stretched(lambda x, m: gen.exp(x - m), value, greatest)
        total = reduce_sum(shifted, axis, keepdims)
        offset = greatest if keepdims else _finite(reduce_max(value, axis))
        logs = gen.log(ragged_functional_ops.flat(total)) + ragged_functional_ops.flat(offset)
        return total.with_flat_values(logs) if is_ragged(total) else logs


def _finite(value):
    """0 for what is not finite; a constant to gradients."""
    flat = ragged_functional_ops.flat(value)
    flat = gen.stop_gradient(array_ops.where_v2(gen.is_finite(flat), flat, array_ops.zeros_like(flat)))
    return value.with_flat_values(flat) if is_ragged(value) else flat


def ragged_cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along a dimension; where a row is shorter than others, it adds nothing."""
    with ops.name_scope(name, "RaggedCumSum", [x]):
        axis = ragged_checks.get_positive_axis(axis, x.shape.ndims)
        sums = math_ops.cumsum(x.to_tensor(), axis, exclusive, reverse)
        return RaggedTensor.from_tensor(sums, lengths=x.nested_row_lengths(), row_splits_dtype=x.row_splits.dtype)


def softmax(logits, axis=None, name=None):
    """exp(x) over its sum along an axis, by default the last one."""
    with ops.name_scope(name, "RaggedSoftmax", [logits]):
        logits = convert_to_tensor_or_ragged_tensor(logits)
        axis = -1 if axis is None else axis
        greatest = reduce_max(logits, axis, keepdims=True)
        exponentials = ragged_functional_ops.stretched(lambda x, m: gen.exp(x - m), logits, greatest)
        return ragged_functional_ops.stretched(math_ops.truediv, exponentials,
                                               reduce_sum(exponentials, axis, keepdims=True))


def _over_bools(reduce):
    def logical(input_tensor, axis=None, keepdims=None, name=None):
        with ops.name_scope(name, "RaggedReduceLogical", [input_tensor]):
            input_tensor = convert_to_tensor_or_ragged_tensor(input_tensor)
            numbers = input_tensor.with_flat_values(math_ops.cast(input_tensor.flat_values, dtypes.int32))
            result = reduce(numbers, axis, keepdims)
            if not is_ragged(result):
                return math_ops.cast(result, dtypes.bool)
            return result.with_flat_values(math_ops.cast(result.flat_values, dtypes.bool))

    return logical


reduce_all = _over_bools(reduce_prod)
reduce_all.__doc__ = "Whether all hold, along dimensions."
reduce_any = _over_bools(reduce_sum)
reduce_any.__doc__ = "Whether any holds, along dimensions."


# Products of batches of matrices of different sizes.


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """The products of the matrices in the last two dimensions, which may be of another size in each batch.

    Shape: [..., rows of a, columns of b]. ValueError: types or ranks that differ, or what tf.matmul refuses.
    InvalidArgumentError: sizes that do not fit, or rows of different lengths in one matrix.
    """
    for letter, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transpose and adjoint:
            raise ValueError(f"Only one of transpose_{letter} and adjoint_{letter} can be True.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse matmul not supported for ragged tensors")
    options = dict(transpose_a=transpose_a, transpose_b=transpose_b, adjoint_a=adjoint_a, adjoint_b=adjoint_b,
                   output_type=output_type)
    with ops.name_scope(name, "RaggedMatMul", [a, b]):
        a = convert_to_tensor_or_ragged_tensor(a)
        b = convert_to_tensor_or_ragged_tensor(b)
        if a.dtype != b.dtype:
            raise ValueError("`a` and `b` must have the same dtype.")
        if a.shape.rank is None or b.shape.rank is None:
            raise ValueError("matmul requires that the ranks of `a` and `b` are known if either is ragged.")
        if a.shape.rank != b.shape.rank:
            raise ValueError("`a` and `b` must have the same rank.")
        a, b = match_row_splits_dtypes(a, b)
        return _product(a, b, options)


def _product(a, b, options):
    rank = a.shape.rank
    if not is_ragged(a) and not is_ragged(b):
        return math_ops.matmul(a, b, **options)
    dtype = next(x for x in (a, b) if is_ragged(x)).row_splits.dtype
    if rank > 3:
        a, b = (x if is_ragged(x) else RaggedTensor.from_tensor(x, row_splits_dtype=dtype) for x in (a, b))
        with ops.control_dependencies(ragged_checks.assert_splits_match([[a.row_splits], [b.row_splits]])):
            values = _product(a.values, b.values, options)
        return a.with_values(values)
    if rank == 2:
        a, b = (_one_matrix(x) if is_ragged(x) else x for x in (a, b))
        return math_ops.matmul(a, b, **options)
    a_rows, a_columns = _sizes(a, dtype)[::-1 if options["transpose_a"] or options["adjoint_a"] else 1]
    b_rows, b_columns = _sizes(b, dtype)[::-1 if options["transpose_b"] or options["adjoint_b"] else 1]
    fits = check_ops.assert_equal(a_columns[0], b_rows[0], message="Matrix size-incompatible")
    with ops.control_dependencies([fits]):
        # What fills the smaller matrices up is zero, and cut off again.
        product = math_ops.matmul(*(x.to_tensor() if is_ragged(x) else x for x in (a, b)), **options)
    (rows, rows_differ), (columns, columns_differ) = a_rows, b_columns
    if columns_differ:
        return RaggedTensor.from_tensor(product, lengths=(rows, array_ops.repeat(columns, rows)))
    return RaggedTensor.from_tensor(product, lengths=rows, row_splits_dtype=rows.dtype) if rows_differ else product


def _one_matrix(ragged):
    lengths = ragged.row_lengths()
    message = "The matrices in `a` and `b` may not be ragged in their innermost dimension."
    with ops.control_dependencies([check_ops.assert_equal(lengths, lengths[:1], message=message)]):
        return ragged.to_tensor()


def _sizes(x, dtype):
    """For the rows and for the columns: how many there are in each matrix of a batch, and whether that may differ."""
    if not is_ragged(x):
        shape = array_ops.shape(x, out_type=dtype)
        return [(array_ops.fill(shape[:1], shape[1]), False), (array_ops.fill(shape[:1], shape[2]), False)]
    rows = (x.row_lengths(), x.uniform_row_length is None)
    if not is_ragged(x.values):
        columns = array_ops.shape(x.values, out_type=dtype)[1]
        return [rows, (array_ops.fill(array_ops.shape(rows[0]), columns), False)]
    lengths = x.row_lengths(axis=2)
    longest = gen.maximum(reduce_max(lengths, axis=1), 0)
    message = "The matrices in `a` and `b` may not be ragged in their innermost dimension."
    same = check_ops.assert_equal(lengths.values, array_ops.gather(longest, lengths.value_rowids()), message=message)
    with ops.control_dependencies([same]):
        return [rows, (array_ops.identity(longest), x.values.uniform_row_length is None)]
