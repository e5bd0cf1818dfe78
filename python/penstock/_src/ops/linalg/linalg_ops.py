"""Matrices: identity, norms, solving, decompositions."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.core_ops.linalg_ops_impl import eye

__all__ = ["adjoint", "cholesky_solve", "eye", "logdet", "matrix_rank", "matrix_solve_ls", "norm", "norm_v2", "pinv",
           "self_adjoint_eig", "self_adjoint_eigvals", "svd", "tridiagonal_matmul", "tridiagonal_solve"]



def adjoint(matrix, name=None):
    """The conjugate transpose."""
    with ops.name_scope(name, "adjoint", [matrix]):
        return array_ops.matrix_transpose(ops.convert_to_tensor(matrix, name="matrix"), conjugate=True)


# Norms


def norm_v2(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors (all elements, or along one axis) or of matrices (along two)."""
    return norm(tensor, ord, axis, keepdims, name)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors (all elements, or along one axis) or of matrices (along two)."""
    keepdims = bool(pick("keepdims", keepdims, "keep_dims", keep_dims))
    of_matrices = isinstance(axis, (tuple, list)) and len(axis) == 2
    if of_matrices:
        axis = tuple(axis)
        supported = ["euclidean", "fro", 1, 2, np.inf]
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in supported:
            raise ValueError(f"'ord' must be a supported matrix norm in {supported}, got {ord}")
    else:
        if not (axis is None or isinstance(axis, int)):
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", 1, 2, np.inf) and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
        axis = None if axis is None else (axis,)
    with ops.name_scope(name, "norm", [tensor]):
        tensor = ops.convert_to_tensor(tensor)
        result = _norm(tensor, ord, axis, of_matrices)
        return result if keepdims else array_ops.squeeze(result, axis)


def _norm(tensor, order, axis, of_matrices):
    """The norm with the reduced dimensions kept."""
    first = None if axis is None else axis[0]
    if order in ("fro", "euclidean", 2):
        if of_matrices and order == 2:
            return _spectral_norm(tensor, axis)
        return gen.sqrt(math_ops.reduce_sum(tensor * math_ops.conj(tensor), axis, keepdims=True))
    result = math_ops.abs(tensor)
    if order == 1:
        result = math_ops.reduce_sum(result, first, keepdims=True)
        return math_ops.reduce_max(result, axis[-1], keepdims=True) if of_matrices else result
    if order == np.inf:
        if of_matrices:
            result = math_ops.reduce_sum(result, axis[1], keepdims=True)
        return math_ops.reduce_max(result, first, keepdims=True)
    return math_ops.pow(math_ops.reduce_sum(math_ops.pow(result, order), axis, keepdims=True), 1.0 / order)


def _spectral_norm(tensor, axis):
    """The greatest singular value."""
    rank = array_ops.rank(tensor)
    axes = ops.convert_to_tensor(axis)
    axes = array_ops.where(axes >= 0, axes, axes + rank)
    order = array_ops.concat([array_ops.setdiff1d(math_ops.range(rank), axes)[0], axes], axis=0)
    moved = array_ops.transpose(tensor, perm=order)
    greatest = math_ops.reduce_max(math_ops.abs(gen.svd(moved, compute_uv=False)[0]), axis=-1, keepdims=True)
    return array_ops.transpose(array_ops.expand_dims(greatest, -1), perm=gen.invert_permutation(order))


# Solving


def cholesky_solve(chol, rhs, name=None):
    """Solves A X = rhs, given the Cholesky factor of A."""
    with ops.name_scope(name, "cholesky_solve", [chol, rhs]):
        y = gen.matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return gen.matrix_triangular_solve(chol, y, adjoint=True, lower=True)


def _gramian_factor(matrix, l2_regularizer, tall):
    """The Cholesky factor of A^H A (tall) or A A^H, with the regulariser on the diagonal."""
    gramian = math_ops.matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(l2_regularizer, ops.Tensor) or l2_regularizer != 0:
        side = -1 if tall else -2
        shape = array_ops.shape(matrix)
        batch = shape[:-2]
        identity = eye(shape[side], batch_shape=batch, dtype=matrix.dtype)
        known = matrix.shape[side]
        identity.set_shape(matrix.shape[:-2].concatenate([known, known]))
        gramian += l2_regularizer * identity
    return gen.cholesky(gramian)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """Solves least squares problems: by Cholesky factors if `fast`, else by the op."""
    matrix = ops.convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError("matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due "
                                  "to poor accuracy.")
    known = matrix.get_shape()
    sides = known[-2:].as_list() if known.ndims is not None else [None, None]
    by_op = fast is False or None in sides
    if not by_op and known.is_fully_defined():
        large = known.num_elements() * matrix.dtype.size > 256000  # does not fit a cache: the op reads it once
        by_op = large and known[:-2].num_elements() > min(sides)
    if by_op:
        return gen.matrix_solve_ls(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with ops.name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        tall = sides[0] >= sides[1]
        factor = _gramian_factor(matrix, l2_regularizer, tall)
        if tall:
            return cholesky_solve(factor, math_ops.matmul(matrix, rhs, adjoint_a=True))
        return math_ops.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _diagonal_matrix_size(diagonals):
    rows, columns = (None, None) if diagonals.shape.ndims is None else diagonals.shape.as_list()[-2:]
    if rows and columns and rows != columns:
        raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
    size = rows or columns
    if not size:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    return size


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True, perturb_singular=False):
    """Solves systems with tridiagonal matrices, given as [..., 3, n], three tensors or whole matrices."""
    if diagonals_format == "sequence":
        diagonals = _stacked_diagonals(diagonals)
    elif diagonals_format == "matrix":
        n = _diagonal_matrix_size(diagonals)
        unused = [0, 0]
        indices = [[[i + 1, i] if i + 1 < n else unused, [i, i], [i - 1, i] if i else unused] for i in range(n)]
        diagonals = array_ops.transpose(array_ops.gather_nd(array_ops.transpose(diagonals), indices))
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    of_diagonals, of_rhs = diagonals.shape.ndims, rhs.shape.ndims
    if of_diagonals < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {of_diagonals}")
    if of_rhs not in (of_diagonals, of_diagonals - 1):
        raise ValueError(f"Expected the rank of rhs to be {of_diagonals - 1} or {of_diagonals}, got {of_rhs}")
    count = diagonals.shape.as_list()[-2]
    if count and count != 3:
        raise ValueError(f"Expected 3 diagonals got {count}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[:of_diagonals - 2]):
        raise ValueError(f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[:of_diagonals - 2]} are incompatible")
    vectors = of_rhs == of_diagonals - 1
    if transpose_rhs and not vectors:
        rhs = array_ops.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = math_ops.conj(rhs)
    if vectors:
        rhs = array_ops.expand_dims(rhs, -1)
    left, right = diagonals.shape.as_list()[-1], rhs.shape.as_list()[-2]
    if left and right and left != right:
        raise ValueError("Expected number of left-hand sided and right-hand sides to be equal, "
                         f"got {left} and {right}")
    result = gen.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting,
                                   perturb_singular=perturb_singular, name=name)
    if vectors:
        return array_ops.squeeze(result, -1)
    return array_ops.matrix_transpose(result) if transpose_rhs else result


def _stacked_diagonals(diagonals):
    """[..., 3, n] from three diagonals; the outer two may be one shorter."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = diagonals
    for outer in (above, below):
        if not outer.shape[:-1].is_compatible_with(main.shape[:-1]):
            raise ValueError("Tensors representing the three diagonals must have the same shape,except for the last "
                             f"dimension, got {below.shape}, {main.shape}, {above.shape}")
    size = main.shape.as_list()[-1]

    def padded(tensor, label, padding):
        n = tensor.shape.as_list()[-1]
        if not n or n == size:
            return tensor
        if n != size - 1:
            raise ValueError(f"Expected {label} to be have length {size} or {size - 1}, got {n}.")
        return array_ops.pad(tensor, [[0, 0]] * (tensor.shape.ndims - 1) + [padding])

    below = padded(below, "subdiagonal", [1, 0])
    above = padded(above, "superdiagonal", [0, 1])
    return array_ops.stack((above, main, below), axis=-2)


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Multiplies by tridiagonal matrices."""
    if diagonals_format == "compact":
        parts = [diagonals[..., i, :] for i in range(3)]
    elif diagonals_format == "sequence":
        parts = list(diagonals)
    elif diagonals_format == "matrix":
        n = _diagonal_matrix_size(diagonals)
        main = array_ops.matrix_diag_part(diagonals)
        flipped = array_ops.transpose(diagonals)
        above = array_ops.gather_nd(flipped, [[i + 1, i] for i in range(n - 1)] + [[0, 0]])
        below = array_ops.gather_nd(flipped, [[0, 0]] + [[i - 1, i] for i in range(1, n)])
        parts = [array_ops.transpose(above), main, array_ops.transpose(below)]
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return gen.tridiagonal_mat_mul(*[array_ops.expand_dims(part, -2) for part in parts], rhs, name=name)


# Decompositions


def self_adjoint_eig(tensor, name=None):
    """(eigenvalues in order, eigenvectors) of self-adjoint matrices."""
    values, vectors = gen.self_adjoint_eig_v2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues of self-adjoint matrices, in order."""
    return gen.self_adjoint_eig_v2(tensor, compute_v=False, name=name)[0]


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v) with tensor = u diag(s) v^H; only s unless `compute_uv`."""
    s, u, v = gen.svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (math_ops.real(s), u, v) if compute_uv else math_ops.real(s)


def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices."""
    with ops.name_scope(name, "logdet", [matrix]):
        diagonal = array_ops.matrix_diag_part(gen.cholesky(matrix))
        return 2.0 * math_ops.reduce_sum(gen.log(math_ops.real(diagonal)), axis=[-1])


def _as_float_matrix(a, validate_args):
    from penstock._src.control_flow import check_ops
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.ndims is not None:
        if a.shape.ndims < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.ndims}).")
    elif validate_args:
        check = check_ops.assert_rank_at_least(a, rank=2, message="Input `a` must have at least 2 dimensions.")
        with ops.control_dependencies([check]):
            a = array_ops.identity(a)
    return a


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The number of singular values above `tol`."""
    with ops.name_scope(name or "matrix_rank"):
        a = _as_float_matrix(ops.convert_to_tensor(a, preferred_dtype=dtypes.float32, name="a"), validate_args)
        values = svd(a, compute_uv=False)
        if tol is None:
            known = a.shape[-2:].is_fully_defined()
            side = np.max(a.shape[-2:].as_list()) if known else math_ops.reduce_max(array_ops.shape(a)[-2:])
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = eps * math_ops.cast(side, a.dtype) * math_ops.reduce_max(values, axis=-1, keepdims=True)
        return math_ops.reduce_sum(math_ops.cast(values > tol, dtypes.int32), axis=-1)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse; singular values below `rcond` times the greatest count as 0."""
    with ops.name_scope(name or "pinv"):
        a = _as_float_matrix(ops.convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            sides = [array_ops.shape(a)[i] if a.shape.ndims is None or a.shape.as_list()[i] is None
                     else a.shape.as_list()[i] for i in (-2, -1)]
            if all(isinstance(side, int) for side in sides):
                longest = float(max(sides))
            else:
                longest = math_ops.cast(gen.maximum(*sides), dtype)
            rcond = 10.0 * longest * np.finfo(dtype).eps
        rcond = ops.convert_to_tensor(rcond, dtype=dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = array_ops.expand_dims_v2(rcond * math_ops.reduce_max(values, axis=-1), -1)
        values = array_ops.where_v2(values > cutoff, values, np.array(np.inf, dtype))
        result = math_ops.matmul(right / array_ops.expand_dims_v2(values, -2), left, adjoint_b=True)
        if a.shape.ndims is not None:
            result.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return result
