"""Operators whose elements are given: full and lower triangular matrices."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorFullMatrix", "LinearOperatorLowerTriangular"]
TYPES = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]


@make_composite_tensor
class LinearOperatorFullMatrix(LinearOperator):
    """Any matrix."""

    _composite_tensor_fields = ("matrix",)

    _experimental_parameter_ndims_to_matrix_ndims = {"matrix": 2}

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        with ops.name_scope(name, values=[matrix]):
            self._matrix = util.convert_nonref_to_tensor(matrix, name="matrix")
            if self._matrix.dtype.base_dtype not in TYPES:
                raise TypeError(f"Argument matrix must have dtype in {TYPES}.  Found: {self._matrix.dtype}")
            if self._matrix.shape.ndims is not None and self._matrix.shape.ndims < 2:
                raise ValueError(f"Argument matrix must have at least 2 dimensions.  Found: {self._matrix}")
            super().__init__(dtype=self._matrix.dtype, graph_parents=[self._matrix], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=is_square, name=name)

    @property
    def matrix(self):
        """The matrix."""
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return array_ops.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return ops.convert_to_tensor(self._matrix)


@make_composite_tensor
class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix; what is above the diagonal is not looked at."""

    _composite_tensor_fields = ("tril",)

    _experimental_parameter_ndims_to_matrix_ndims = {"tril": 2}

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with ops.name_scope(name, values=[tril]):
            self._tril = util.convert_nonref_to_tensor(tril, name="tril")
            if self._tril.shape.ndims is not None and self._tril.shape.ndims < 2:
                raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril}")
            super().__init__(dtype=self._tril.dtype, graph_parents=[self._tril], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=True, name=name)

    @property
    def tril(self):
        """The matrix whose lower triangle it is."""
        return self._tril

    def _triangle(self):
        return gen.matrix_band_part(self._tril, -1, 0)

    def _diag_part(self):
        return array_ops.matrix_diag_part(self._tril)

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return array_ops.shape(self._tril)

    def _assert_non_singular(self):
        return util.assert_no_entries_with_modulus_zero(self._diag_part(),
                                    message="Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._triangle(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self):
        return math_ops.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        return math_ops.reduce_sum(gen.log(math_ops.abs(self._diag_part())), axis=[-1])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        return util.matrix_triangular_solve_with_broadcast(self._triangle(), rhs, lower=True, adjoint=adjoint)

    def _to_dense(self):
        return self._triangle()
