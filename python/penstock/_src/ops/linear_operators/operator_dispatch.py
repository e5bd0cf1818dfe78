"""What functions of matrices do where an argument is a linear operator; api/dispatch_rows.py says which do what."""
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators.base import LinearOperator


def call(method, function, args, kwargs):
    """The function's result for linear operators; NotImplemented if there is none among the arguments."""
    if not any(isinstance(value, LinearOperator) for value in (*args, *kwargs.values())):
        return NotImplemented
    if method in _FUNCTIONS:
        return _FUNCTIONS[method](*args, **kwargs)
    return _unary(method, *args, **kwargs)


def _named(name):
    return {} if name is None else {"name": name}


def _unary(method, operator, name=None):
    return getattr(operator, method)(**_named(name))


def _inverse(input, adjoint=False, name=None):
    inverse = _unary("inverse", input, name)
    return inverse.adjoint() if adjoint else inverse


def _matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
            b_is_sparse=False, name=None):
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, **_named(name))
    return linalg_ops.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, **_named(name)))


def _solve(matrix, rhs, adjoint=False, name=None):
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, **_named(name))


_FUNCTIONS = {"inverse": _inverse, "matmul": _matmul, "solve": _solve}
