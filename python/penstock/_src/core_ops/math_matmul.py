"""Matrix products: matmul, matvec, tensordot."""
import functools

import numpy as np

from penstock import _core
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops.array_join import concat, stack
from penstock._src.core_ops.array_shape import expand_dims, rank, reshape, shape, squeeze, transpose
from penstock._src.core_ops.array_slice import gather, where
from penstock._src.core_ops.math_arith import cast, conj
from penstock._src.core_ops.math_arith import range as range_of
from penstock._src.core_ops.math_reduce import reduce_prod, reduce_sum

__all__ = ["matmul", "matmul_v1", "matvec", "tensordot", "trace"]


@functools.cache
def _product_of_matrices(transpose_a, transpose_b):
    """The short road for eager values; not for batches."""
    return _core.fast_op("MatMul", None, {"transpose_a": transpose_a, "transpose_b": transpose_b}, rank=2)


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """The product of matrices, or of batches of them whose other dimensions broadcast.

    The type of the product is that of its factors, unless `output_type` says int32 for int8 ones. `grad_a` and `grad_b`
    say for a compiler that a factor is a gradient, and change nothing.
    """
    if output_type is not None:
        return _product_of_type(dtypes.as_dtype(output_type), a, b, transpose_a, transpose_b, adjoint_a, adjoint_b,
                                a_is_sparse, b_is_sparse, name)
    if _core.executes_eagerly() and not (adjoint_a or adjoint_b or a_is_sparse or b_is_sparse):
        product = _product_of_matrices(bool(transpose_a), bool(transpose_b))(a, b)
        if product is not NotImplemented:
            return product
    with ops.name_scope(name, "MatMul", [a, b]) as name:
        for side, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
            if both:
                raise ValueError(f"Only one of transpose_{side} and adjoint_{side} can be True.")
        a = ops.convert_to_tensor(a, name="a")
        b = ops.convert_to_tensor(b, name="b")
        batched = any(x.get_shape().ndims is None or x.get_shape().ndims > 2 for x in (a, b))
        if batched and not a_is_sparse and not b_is_sparse:
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return gen.batch_mat_mul_v2(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        kinds = {a.dtype.base_dtype, b.dtype.base_dtype}
        use_sparse = (a_is_sparse or b_is_sparse) and kinds <= {dtypes.bfloat16, dtypes.float32}
        if use_sparse or (dtypes.bfloat16 in kinds and len(kinds) == 2):
            product = gen.sparse_mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b,
                                         a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=name)
            return cast(product, dtypes.bfloat16) if kinds == {dtypes.bfloat16} else product
        return gen.mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def matmul_v1(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
              b_is_sparse=False, name=None):
    """The product of matrices, or of batches of them whose other dimensions broadcast.

    a: [..., n, k], b: [..., k, m], of one type; the product is [..., n, m].
    transpose_a, adjoint_a: whether the last two dimensions are exchanged first; the latter conjugates too. The same for
      b. ValueError: both for one factor.
    a_is_sparse, b_is_sparse: whether most elements of a matrix of float32 or bfloat16 are zero.
    """
    return matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name=name)


def _product_of_type(output_type, a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name):
    a, b = ops.convert_to_tensor(a, name="a"), ops.convert_to_tensor(b, name="b")
    if output_type in (a.dtype, b.dtype) and not {a.dtype, b.dtype} & {dtypes.int8, dtypes.uint8}:
        return matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name=name)
    a, b = (conj(x) if adjoint else x for x, adjoint in ((a, adjoint_a), (b, adjoint_b)))
    return gen.batch_mat_mul_v3(a, b, Tout=output_type, adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b,
                                name=name)


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of a matrix and a vector, or of batches of them."""
    with ops.name_scope(name, "MatVec", [a, b]) as name:
        product = matmul(a, expand_dims(b, axis=-1), transpose_a=transpose_a, adjoint_a=adjoint_a,
                         a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse)
        return squeeze(product, axis=-1)


def trace(x, name=None):
    """The sum of the diagonal of each matrix."""
    from penstock._src.core_ops.array_blocks import matrix_diag_part
    with ops.name_scope(name, "Trace", [x]) as name:
        return reduce_sum(matrix_diag_part(ops.convert_to_tensor(x, name="x")), [-1], name=name)


def _as_matrix(a, axes, contracted_first):
    """A tensor as a matrix of its free and its contracted axes: (matrix, free sizes, free sizes as far as known)."""
    known = a.get_shape()
    listed = isinstance(axes, (list, tuple))
    if listed and known.ndims is not None:
        sizes = known.as_list()
        axes = [i if i >= 0 else i + len(sizes) for i in axes]
        free = [i for i in range(len(sizes)) if i not in axes]
        static = [sizes[i] for i in free]
        if known.is_fully_defined():
            outer, inner = int(np.prod(static)), int(np.prod([sizes[i] for i in axes]))
            if contracted_first:
                return reshape(transpose(a, list(axes) + free), [inner, outer]), static, static
            return reshape(transpose(a, free + list(axes)), [outer, inner]), static, static
        axes = ops.convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = ops.convert_to_tensor(free, dtype=dtypes.int32, name="free")
        sizes = shape(a)
    else:
        static = None
        sizes = shape(a)
        count = rank(a)
        axes = ops.convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = where(axes >= 0, axes, axes + count)
        free, _ = gen.list_diff(range_of(count), axes, out_idx=dtypes.int32)
    free_sizes = gather(sizes, free)
    contracted = gather(sizes, axes)
    outer, inner = reduce_prod(free_sizes), reduce_prod(contracted)
    if contracted_first:
        perm, form = concat([axes, free], 0), stack([inner, outer])
    else:
        perm, form = concat([free, axes], 0), stack([outer, inner])
    return reshape(transpose(a, perm), form), free_sizes, static


def _contracted_axes(a, axes):
    known = a.get_shape()
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if known.ndims is None:
            count = rank(a)
            return range_of(count - axes, count, dtype=dtypes.int32), range_of(axes, dtype=dtypes.int32)
        if axes > known.ndims:
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(known.ndims - axes, known.ndims)), list(range(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        of_a, of_b = axes
        if isinstance(of_a, (int, np.integer)) and isinstance(of_b, (int, np.integer)):
            of_a, of_b = [of_a], [of_b]
        if len(of_a) != len(of_b):
            raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(of_a)} != {len(of_b)}.")
        return of_a, of_b
    axes = ops.convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
    return axes[0], axes[1]


def tensordot(a, b, axes, name=None):
    """The sum of products over `axes`: a number of them, or a list for `a` and one for `b`."""
    with ops.name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = ops.convert_to_tensor(a, name="a")
        b = ops.convert_to_tensor(b, name="b")
        a_axes, b_axes = _contracted_axes(a, axes)
        a_matrix, a_free, a_static = _as_matrix(a, a_axes, contracted_first=False)
        b_matrix, b_free, b_static = _as_matrix(b, b_axes, contracted_first=True)
        product = matmul(a_matrix, b_matrix)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return reshape(product, a_free + b_free, name=name)
        a_free = ops.convert_to_tensor(a_free, dtype=dtypes.int32)
        b_free = ops.convert_to_tensor(b_free, dtype=dtypes.int32)
        product = reshape(product, concat([a_free, b_free], 0), name=name)
        if a_static is not None and b_static is not None:
            product.set_shape(a_static + b_static)
        return product
