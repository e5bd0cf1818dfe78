"""Version 2's tf.math.bincount and tf.sparse.bincount: counts of dense, sparse and ragged values."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.ragged import ragged_tensor


def _converted(values, name):
    """Values as a dense, sparse or ragged tensor."""
    if isinstance(values, (sparse_tensor.SparseTensor, ragged_tensor.RaggedTensor)) or values is None:
        return values
    return ops.convert_to_tensor(values, name=name)


def _flat(values):
    """The values as a vector."""
    if isinstance(values, sparse_tensor.SparseTensor):
        return values.values
    if isinstance(values, ragged_tensor.RaggedTensor):
        return values.flat_values
    return array_ops.reshape(values, [-1])


def _weights(values, weights, dtype):
    """The weights' values, with the same places as `values`; without weights an empty vector of `dtype`."""
    if weights is None:
        return constant_op.constant([], dtype)
    kind = type(values) if isinstance(values, (sparse_tensor.SparseTensor, ragged_tensor.RaggedTensor)) else None
    if kind is None:
        if not ops.is_dense_tensor_like(weights):
            raise ValueError("Argument `weights` must be a tf.Tensor if `values` is a tf.Tensor. "
                             f"Received weights={weights} of type: {type(weights).__name__}")
        return weights
    if not isinstance(weights, kind):
        raise ValueError(f"Argument `weights` must be a {kind.__name__} if `values` is a {kind.__name__}. "
                         f"Received weights={weights} of type: {type(weights).__name__}")
    parts = {"indices": "indices", "dense_shape": "dense shape"}
    if kind is ragged_tensor.RaggedTensor:
        parts = {"row_splits": "row splits"}
    checks = [check_ops.assert_equal(getattr(weights, part), getattr(values, part),
                                     message=f"'weights' and 'values' must have the same {words}.")
              for part, words in parts.items() if getattr(weights, part) is not getattr(values, part)]
    with ops.control_dependencies(checks):
        return array_ops.identity(_flat(weights))


def _checked_axis(axis, weights, binary_output):
    """0 or -1."""
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    axis = 0 if axis is None else axis
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    return axis


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None,
             binary_output=False):
    """How often each number from 0 on appears in `arr`, or the sum of its weights.

    `arr` is a dense, sparse or ragged tensor of integers that are not negative (others are converted to int32); the
    weights have its form. With `axis=-1`, `arr` has two dimensions, and so has the result: a row for each row. The
    result has `max(arr) + 1` columns, but at least `minlength` and at most `maxlength`. Its type is that of the
    weights, without them `dtype`; with `binary_output`, 1 stands for whatever appears. ValueError for another axis, for
    `weights` and `binary_output` together, and for weights of another form."""
    with ops.name_scope("bincount" if name is None else name):
        arr, weights = _converted(arr, "arr"), _converted(weights, "weights")
        axis = _checked_axis(axis, weights, binary_output)
        if not arr.dtype.is_integer:
            arr = math_ops.cast(arr, dtypes.int32)
        values = _flat(arr)
        filled = math_ops.cast(array_ops.size(values) > 0, values.dtype)
        size = filled * (math_ops.reduce_max(values) + 1)
        if minlength is not None:
            size = gen.maximum(ops.convert_to_tensor(minlength, name="minlength", dtype=values.dtype), size)
        if maxlength is not None:
            size = gen.minimum(ops.convert_to_tensor(maxlength, name="maxlength", dtype=values.dtype), size)
        weights = _weights(arr, weights, dtype or values.dtype)
        if axis == -1 and isinstance(arr, sparse_tensor.SparseTensor):
            return gen.sparse_bincount(arr.indices, arr.values, arr.dense_shape, size, weights, binary_output)
        if axis == -1 and isinstance(arr, ragged_tensor.RaggedTensor):
            return gen.ragged_bincount(arr.row_splits, arr.values, size, weights, binary_output)
        if axis == 0:
            arr, weights = values, array_ops.reshape(weights, [-1])
        return gen.dense_bincount(arr, size, weights, binary_output)


def sparse_bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """How often each number appears in `values`, as a SparseTensor of what appears.

    Arguments and errors as `tf.math.bincount`'s; counts have the values' type. Its last dimension is `maxlength` if
    that is given, else `max(values) + 1`, but at least `minlength`."""
    with ops.name_scope(name, "count", [values, weights]):
        values, weights = _converted(values, "values"), _converted(weights, "weights")
        axis = _checked_axis(axis, weights, binary_output)
        numbers = _weights(values, weights, values.dtype)
        limits = {"minlength": -1 if minlength is None else minlength,
                  "maxlength": -1 if maxlength is None else maxlength, "binary_output": binary_output}
        if axis == 0:
            parts = gen.dense_count_sparse_output(_flat(values), array_ops.reshape(numbers, [-1]), **limits)
        elif isinstance(values, sparse_tensor.SparseTensor):
            parts = gen.sparse_count_sparse_output(values.indices, values.values, values.dense_shape, numbers, **limits)
        elif isinstance(values, ragged_tensor.RaggedTensor):
            parts = gen.ragged_count_sparse_output(values.row_splits, values.values, numbers, **limits)
        else:
            parts = gen.dense_count_sparse_output(values, numbers, **limits)
        return sparse_tensor.SparseTensor(*parts)
