"""Arithmetic of sparse tensors: sums, reductions, products, crosses."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops.arguments import pick

__all__ = [
    "map_values", "sampled_addmm",
    "sparse_add", "sparse_add_v2", "sparse_cross", "sparse_cross_hashed", "sparse_dense_cwise_add", "sparse_maximum",
    "sparse_minimum", "sparse_reduce_max", "sparse_reduce_max_sparse", "sparse_reduce_max_v2", "sparse_reduce_sum",
    "sparse_reduce_sum_sparse", "sparse_reduce_sum_v2", "sparse_softmax", "sparse_tensor_dense_matmul",
]

_SPARSE = (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)
_DEFAULT_HASH_KEY = 0xDECAFCAFFE


def as_sparse(x):
    """A SparseTensor, from one or from a SparseTensorValue."""
    if isinstance(x, sparse_tensor.SparseTensorValue):
        return sparse_tensor.SparseTensor.from_value(x)
    if not isinstance(x, sparse_tensor.SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return x


def sparse_add(a, b, threshold=None, thresh=None):
    """a + b, of which at least one is sparse; sums below the threshold are left out of a sparse result."""
    threshold = pick("threshold", threshold, "thresh", thresh)
    return sparse_add_v2(a, b, 0 if threshold is None else threshold)


def sparse_add_v2(a, b, threshold=0):
    """a + b, of which at least one is sparse; sums below the threshold are left out of a sparse result."""
    sparse = [isinstance(x, _SPARSE) for x in (a, b)]
    if not any(sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not all(sparse):
        a, b = (a, b) if sparse[0] else (b, a)
        return gen.sparse_tensor_dense_add(a.indices, a.values, a.dense_shape, b)
    a, b = as_sparse(a), as_sparse(b)
    threshold = ops.convert_to_tensor(threshold, dtype=a.values.dtype.real_dtype.base_dtype, name="threshold")
    indices, values, shape = gen.sparse_add(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape,
                                            threshold)
    a.get_shape().assert_is_compatible_with(b.get_shape())
    known = array_ops.broadcast_static_shape(a.get_shape(), b.get_shape())
    if known.is_fully_defined():
        shape = known.as_list()
    return sparse_tensor.SparseTensor(indices, values, shape)


def sparse_dense_cwise_add(sp_t, dense_t):
    """Adds to the values that are there the elements of a dense tensor."""
    values = gen.sparse_dense_cwise_add(sp_t.indices, sp_t.values, sp_t.dense_shape, dense_t)
    return sparse_tensor.SparseTensor(sp_t.indices, values, sp_t.dense_shape)


def _elementwise(op_name, scope, doc, name):
    def combine(sp_a, sp_b, name=None):
        with ops.name_scope(name, scope, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as name:
            indices, values = getattr(gen, op_name)(sp_a.indices, sp_a.values, sp_a.dense_shape, sp_b.indices,
                                                    sp_b.values, sp_b.dense_shape, name=name)
        return sparse_tensor.SparseTensor(indices, values, sp_a.dense_shape)

    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = doc
    return combine


sparse_maximum = _elementwise("sparse_sparse_maximum", "SparseSparseMaximum",
                              "The greater of two sparse tensors, element by element.", "sparse_maximum")
sparse_minimum = _elementwise("sparse_sparse_minimum", "SparseSparseMinimum",
                              "The lesser of two sparse tensors, element by element.", "sparse_minimum")


def _reduction(name, doc):
    """The reductions `name` (to a dense tensor), name_sparse, and version 2's that does either."""

    def run(sp_input, axis, keepdims, sparse, scope):
        op = getattr(gen, name + "_sparse" if sparse else name)
        axes = math_ops._ReductionDims(sp_input, axis)
        result = op(sp_input.indices, sp_input.values, sp_input.dense_shape, axes, bool(keepdims), name=scope)
        return sparse_tensor.SparseTensor(*result) if sparse else result

    def old(sparse):
        def reduce(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
            keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
            return run(sp_input, pick("axis", axis, "reduction_axes", reduction_axes), keepdims, sparse, None)

        return reduce

    def reduce_v2(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
        return run(sp_input, axis, keepdims, output_is_sparse, name)

    functions = old(False), old(True), reduce_v2
    for function, suffix in zip(functions, ("", "_sparse", "_v2")):
        function.__name__ = function.__qualname__ = name + suffix
        function.__doc__ = doc
    return functions


sparse_reduce_max, sparse_reduce_max_sparse, sparse_reduce_max_v2 = _reduction(
    "sparse_reduce_max", "The greatest value over the axes, or over all.")
sparse_reduce_sum, sparse_reduce_sum_sparse, sparse_reduce_sum_v2 = _reduction(
    "sparse_reduce_sum", "The sum over the axes, or over all.")


def sparse_softmax(sp_input, name=None):
    """Softmax along the last dimension, over the values that are there."""
    with ops.name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = gen.sparse_softmax(sp_input.indices, sp_input.values, sp_input.dense_shape)
        return sparse_tensor.SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse and a dense matrix, or of a dense and a sparse one."""
    if isinstance(b, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)) \
            and not isinstance(sp_a, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)):
        # a b is the transpose of b^T a^T.
        with ops.name_scope(name, "SparseTensorDenseMatMul", [sp_a]):
            product = sparse_tensor_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
            return array_ops.transpose(product, conjugate=True)
    sp_a = as_sparse(sp_a)
    with ops.name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]) as name:
        b = ops.convert_to_tensor(b, name="b")
        return gen.sparse_tensor_dense_mat_mul(sp_a.indices, sp_a.values, sp_a.dense_shape, b, adjoint_a=adjoint_a,
                                               adjoint_b=adjoint_b)


def map_values(op, *args, **kwargs):
    """`op` of the values of sparse tensors, which must be at the same places, as a sparse tensor."""
    sparse = []

    def values(x):
        if not isinstance(x, sparse_tensor.SparseTensor):
            return x
        sparse.append(x)
        return x.values

    args, kwargs = [values(x) for x in args], {name: values(x) for name, x in kwargs.items()}
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = sparse[0]
    checks = [check_ops.assert_equal(getattr(x, part), getattr(first, part), message=f"{part} of sparse tensors differ")
              for x in sparse[1:] for part in ("indices", "dense_shape")]
    with ops.control_dependencies([check for check in checks if check is not None]):
        return sparse_tensor.SparseTensor(first.indices, op(*args, **kwargs), first.dense_shape)


def sparse_cross(inputs, name=None, separator=None):
    """For each row all combinations of one value from each input, as strings joined by "_X_" or the separator."""
    if separator is None:
        return _cross(inputs, False, 0, None, name)
    sparse, dense, _ = _cross_inputs(inputs)
    texts = [_as_text(x) for x in dense]
    result = gen.sparse_cross_v2([x.indices for x in sparse], [_as_text(x.values) for x in sparse],
                                 [x.dense_shape for x in sparse], texts,
                                 ops.convert_to_tensor(separator, dtype=dtypes.string, name="sep"), name=name)
    return sparse_tensor.SparseTensor(*result)


def _as_text(x):
    return x if x.dtype == dtypes.string else gen.as_string(x)


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """For each row the hashes of all combinations of one value from each input."""
    return _cross(inputs, True, num_buckets, hash_key, name)


def _cross_inputs(inputs):
    """(sparse inputs, dense inputs, string or int64: what all of them can be)"""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(x, (sparse_tensor.SparseTensor, ops.Tensor)) for x in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [x for x in inputs if isinstance(x, sparse_tensor.SparseTensor)]
    dense = [x for x in inputs if not isinstance(x, sparse_tensor.SparseTensor)]
    values = [x.values for x in sparse]
    return sparse, dense, dtypes.string if all(x.dtype == dtypes.string for x in values + dense) else dtypes.int64


def _cross(inputs, hashed, num_buckets, hash_key, name):
    sparse, dense, kind = _cross_inputs(inputs)
    values = [x.values for x in sparse]

    def plain(x):
        return x if x.dtype == dtypes.string else math_ops.cast(x, dtypes.int64)

    result = gen.sparse_cross([x.indices for x in sparse], [plain(x) for x in values], [x.dense_shape for x in sparse],
                              [plain(x) for x in dense], hashed_output=hashed, num_buckets=num_buckets,
                              hash_key=hash_key or _DEFAULT_HASH_KEY,
                              out_type=dtypes.int64 if hashed else dtypes.string, internal_type=kind, name=name)
    return sparse_tensor.SparseTensor(*result)


def sampled_addmm(indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=dtypes.float32):
    """The parts (indices, values, shape) of a sparse tensor: alpha times the product of two matrices at the given
    places, plus beta times the values there. Nothing else of the product is computed.

    indices: [..., n, 2]; values: [..., n]; mat1, mat2: [..., rows, k] and [..., k, columns], with the batch of the
    indices. ValueError: a dense_shape that is not [rows, columns].
    """
    indices = ops.convert_to_tensor(indices, name="indices")
    values, mat1, mat2 = (math_ops.cast(ops.convert_to_tensor(x), output_type) for x in (values, mat1, mat2))
    wanted = tensor_util.constant_value_as_shape(ops.convert_to_tensor(dense_shape, name="dense_shape"))
    shape = mat1.shape[-2:-1].concatenate(mat2.shape[-1:])
    if not wanted.is_compatible_with(shape):
        raise ValueError(f"Dense shape {wanted} does not match output shape {shape}.")
    batch = indices.shape.ndims - 2
    rows = array_ops.gather(mat1, indices[..., 0], batch_dims=batch)
    columns = array_ops.gather(array_ops.matrix_transpose(mat2), indices[..., 1], batch_dims=batch)
    products = math_ops.reduce_sum(rows * columns, axis=-1)
    return indices, alpha * products + beta * values, dense_shape
