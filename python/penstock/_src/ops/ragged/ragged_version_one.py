"""Functions of ragged tensors with the arguments that version 1's public functions have."""
from penstock._src.graph import dtypes
from penstock._src.ops.strings import string_ops
from penstock._src.ops.ragged import ragged_array_ops, ragged_gather_ops, ragged_math_ops
from penstock._src.base.deprecation import deprecated_argument_lookup


def expand_dims(input, axis=None, name=None, dim=None):
    """`tf.expand_dims` of version 1 for ragged tensors."""
    return ragged_array_ops.expand_dims(input, deprecated_argument_lookup("axis", axis, "dim", dim), name)


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """`tf.gather` of version 1 for ragged tensors."""
    return ragged_gather_ops.gather(params, indices, validate_indices, batch_dims if axis is None else axis, batch_dims,
                                    name)


def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """`tf.gather_nd` of version 1 for ragged tensors."""
    return ragged_gather_ops.gather_nd(params, indices, batch_dims, name, bad_indices_policy)


def size(input, name=None, out_type=dtypes.int32):
    """`tf.size` of version 1 for ragged tensors."""
    return ragged_array_ops.size(input, out_type, name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """`tf.squeeze` of version 1 for ragged tensors."""
    return ragged_array_ops.squeeze(input, deprecated_argument_lookup("axis", axis, "squeeze_dims", squeeze_dims), name)


def _reduction(reduce):
    def reduce_v1(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
        keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
        return reduce(input_tensor, axis, keepdims, name)

    return reduce_v1


reduce_sum = _reduction(ragged_math_ops.reduce_sum)
reduce_prod = _reduction(ragged_math_ops.reduce_prod)
reduce_min = _reduction(ragged_math_ops.reduce_min)
reduce_max = _reduction(ragged_math_ops.reduce_max)
reduce_mean = _reduction(ragged_math_ops.reduce_mean)
reduce_all = _reduction(ragged_math_ops.reduce_all)
reduce_any = _reduction(ragged_math_ops.reduce_any)
reduce_logsumexp = _reduction(ragged_math_ops.reduce_logsumexp)


def reduce_join_v2(inputs, axis=None, keepdims=None, separator="", name=None):
    """`tf.strings.reduce_join` of version 2 for ragged tensors."""
    from penstock._src.graph import gen
    return ragged_math_ops.ragged_reduce_aggregate(string_ops.reduce_join_v2, gen.unsorted_segment_join, inputs, axis,
                                                   keepdims, separator, name or "RaggedSegmentJoin")


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """`tf.reduce_join` of version 1 for ragged tensors."""
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    return reduce_join_v2(inputs, axis, keepdims, separator, name)
