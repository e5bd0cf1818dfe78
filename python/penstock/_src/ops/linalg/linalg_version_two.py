"""What only version 2 has among tf.linalg's functions: eigenvalues of general and tridiagonal matrices, banded systems,
conjugate gradients."""
import collections

from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import while_loop
from penstock._src.ops.linalg.linalg_ops import self_adjoint_eig, self_adjoint_eigvals

__all__ = ["banded_triangular_solve", "conjugate_gradient", "eig", "eigh_tridiagonal", "eigvals"]

_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def eig(tensor, name=None):
    """(eigenvalues, eigenvectors as columns) of square matrices, complex and in no order."""
    tensor = ops.convert_to_tensor(tensor, name="tensor")
    values, vectors = gen.eig(tensor, Tout=_COMPLEX.get(tensor.dtype, tensor.dtype), compute_v=True, name=name)
    return values, vectors


def eigvals(tensor, name=None):
    """The eigenvalues of square matrices, complex and in no order."""
    tensor = ops.convert_to_tensor(tensor, name="tensor")
    values, _ = gen.eig(tensor, Tout=_COMPLEX.get(tensor.dtype, tensor.dtype), compute_v=False, name=name)
    return values


def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """Solves systems whose triangular matrices are given by their diagonals, as in `matrix_diag`."""
    with ops.name_scope(name, "banded_triangular_solve", [bands, rhs]):
        return gen.banded_triangular_solve(bands, rhs, lower=lower, adjoint=adjoint)


def eigh_tridiagonal(alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None):
    """The eigenvalues, in ascending order, of a Hermitian tridiagonal matrix with diagonal `alpha` and subdiagonal
    `beta`; with `eigvals_only` false (values, vectors).

    select: "a" for all, "i" for those whose places are in select_range (both ends included), "v" for those in the
    half-open interval select_range.
    """
    with ops.name_scope(name, "eigh_tridiagonal"):
        alpha = ops.convert_to_tensor(alpha, name="alpha")
        beta = ops.convert_to_tensor(beta, dtype=alpha.dtype, name="beta")
        if alpha.shape.ndims != 1 or beta.shape.ndims != 1:
            raise ValueError("alpha and beta must have rank 1.")
        if select not in ("a", "i", "v"):
            raise ValueError(f"`select` must be one of 'a', 'i', 'v'. Got {select!r}.")
        if select != "a" and select_range is None:
            raise ValueError("select_range must be given unless all eigenvalues are asked for.")
        matrix = array_ops.matrix_diag(alpha) + array_ops.matrix_diag(beta, k=-1) + array_ops.matrix_diag(
            math_ops.conj(beta), k=1)
        values, vectors = self_adjoint_eig(matrix) if not eigvals_only else (self_adjoint_eigvals(matrix), None)
        values = math_ops.real(values)
        if select == "i":
            first, last = select_range
            if first > last or first < 0 or (alpha.shape[0] is not None and last >= alpha.shape[0]):
                raise ValueError(f"Got empty or invalid index range {select_range}.")
            chosen = math_ops.range(first, last + 1)
        elif select == "v":
            low, high = select_range
            if low >= high:
                raise ValueError(f"Got empty interval {select_range}.")
            chosen = array_ops.where_v2(gen.logical_and(values > low, values <= high))[:, 0]
        if select != "a":
            values = array_ops.gather(values, chosen)
            vectors = None if eigvals_only else array_ops.gather(vectors, chosen, axis=1)
        return values if eigvals_only else (values, vectors)


_State = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-5, max_iter=20, name="conjugate_gradient"):
    """Solves A x = rhs for a self-adjoint, positive definite linear operator.

    Gives (number of steps, solution, residual, search direction, its squared length in the preconditioner's norm). It
    ends when the residual is below tol times the norm of `rhs`.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")

    def dot(a, b):
        return math_ops.reduce_sum(math_ops.conj(a) * b, axis=-1)

    def precondition(r):
        return r if preconditioner is None else preconditioner.matvec(r)

    with ops.name_scope(name):
        rhs = ops.convert_to_tensor(rhs, name="rhs")
        limit = math_ops.sqrt(dot(rhs, rhs)) * tol
        if x is None:
            x = array_ops.zeros_like(rhs)
            r = rhs
        else:
            x = ops.convert_to_tensor(x, name="x")
            r = rhs - operator.matvec(x)
        p = precondition(r)
        start = _State(constant_op.constant(0), x, r, p, dot(r, p))

        def going(i, state):
            return gen.logical_and(i < max_iter, math_ops.reduce_any(math_ops.sqrt(dot(state.r, state.r)) > limit))

        def step(i, state):
            z = operator.matvec(state.p)
            alpha = state.gamma / dot(state.p, z)
            x = state.x + alpha[..., None] * state.p
            r = state.r - alpha[..., None] * z
            q = precondition(r)
            gamma = dot(r, q)
            p = q + (gamma / state.gamma)[..., None] * state.p
            return i + 1, _State(i + 1, x, r, p, gamma)

        _, state = while_loop.while_loop(going, step, [start.i, start])
        return state
