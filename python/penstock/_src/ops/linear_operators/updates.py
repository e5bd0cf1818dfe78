"""Operators that differ little from simpler ones: reflections, and updates of low rank."""
from penstock._src.graph import errors, gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import diagonal
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor
from penstock._src.base import tf_logging

__all__ = ["LinearOperatorHouseholder", "LinearOperatorLowRankUpdate"]


@make_composite_tensor
class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane that is orthogonal to a vector v: I - 2 v v^H / |v|^2."""

    _composite_tensor_fields = ("reflection_axis",)

    _experimental_parameter_ndims_to_matrix_ndims = {"reflection_axis": 1}

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorHouseholder"):
        with ops.name_scope(name, values=[reflection_axis]):
            self._reflection_axis = util.convert_nonref_to_tensor(reflection_axis, name="reflection_axis")
            if self._reflection_axis.shape.ndims == 0:
                raise ValueError("Argument reflection_axis must have at least 1 dimension.  "
                                 f"Found: {self._reflection_axis}")
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
            super().__init__(dtype=self._reflection_axis.dtype, graph_parents=[self._reflection_axis],
                             is_non_singular=is_non_singular, is_self_adjoint=True, is_positive_definite=False,
                             is_square=True, name=name)

    @property
    def reflection_axis(self):
        return self._reflection_axis

    def _shape(self):
        return self._reflection_axis.shape.concatenate(self._reflection_axis.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._reflection_axis)
        return array_ops.concat((shape, shape[-1:]), 0)

    def _unit_axis(self):
        axis = ops.convert_to_tensor(self._reflection_axis)
        return axis / linalg_ops.norm(axis, axis=-1, keepdims=True)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        v = array_ops.expand_dims(self._unit_axis(), -1)
        return x - 2 * v * math_ops.matmul(v, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _ones(self):
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _determinant(self):
        return -self._ones()

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self):
        return math_ops.cast(self.domain_dimension_tensor() - 2, self.dtype) * self._ones()

    def _diag_part(self):
        v = self._unit_axis()
        return 1.0 - 2 * v * math_ops.conj(v)

    def _to_dense(self):
        v = array_ops.expand_dims(self._unit_axis(), -1)
        matrix = -2 * math_ops.matmul(v, v, adjoint_b=True)
        return array_ops.matrix_set_diag(matrix, 1.0 + array_ops.matrix_diag_part(matrix))

    def _assert_non_singular(self):
        return control_flow_ops.no_op("assert_non_singular")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return control_flow_ops.no_op("assert_self_adjoint")

    def _inverse(self):
        return self


@make_composite_tensor
class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H: an operator L, matrices U and V of few columns, and a diagonal matrix D.

    Solutions and determinants need those of L, and of one matrix of as many rows as U has columns.
    """

    _composite_tensor_fields = ("base_operator", "u", "diag_update", "v", "is_diag_update_positive")

    _experimental_parameter_ndims_to_matrix_ndims = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        dtype = base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError("Default diagonal is the identity, which is positive.  However, user set "
                                 "'is_diag_update_positive' to False.")
            is_diag_update_positive = True
        elif is_diag_update_positive and dtype.is_complex:
            tf_logging.warn("Note: setting is_diag_update_positive with a complex dtype means that diagonal is real "
                            "and positive.")
        self._use_cholesky = bool(base_operator.is_positive_definite and base_operator.is_self_adjoint
                                  and is_diag_update_positive and v is None)
        if base_operator.is_self_adjoint and v is None and not dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                                 "self-adjoint, this must be a self-adjoint operator.")
            is_self_adjoint = True
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        with ops.name_scope(name, values=base_operator.graph_parents + [u, diag_update, v]):
            self._u = util.convert_nonref_to_tensor(u, name="u")
            self._v = self._u if v is None else util.convert_nonref_to_tensor(v, name="v")
            self._diag_update = util.convert_nonref_to_tensor(diag_update, name="diag_update")
            self._base_operator = base_operator
            self._is_diag_update_positive = is_diag_update_positive
            parents = [self._u, self._diag_update, self._v]
            super().__init__(dtype=dtype, graph_parents=base_operator.graph_parents + [p for p in parents
                                                                                      if p is not None],
                             is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                             is_positive_definite=is_positive_definite, is_square=is_square, name=name)
            if diag_update is None:
                rank = tensor_shape.dimension_value(self._u.shape[-1])
                self._diag_operator = diagonal.LinearOperatorIdentity(
                    array_ops.shape(self._u)[-1] if rank is None else rank, dtype=dtype)
            else:
                self._diag_operator = diagonal.LinearOperatorDiag(self._diag_update,
                                                                  is_positive_definite=is_diag_update_positive)
            self._check_shapes()

    def _check_shapes(self):
        both = array_ops.broadcast_static_shape(self._u.shape, self._v.shape)
        batch = array_ops.broadcast_static_shape(self._base_operator.batch_shape, both[:-2])
        self._base_operator.domain_dimension.assert_is_compatible_with(tensor_shape.dimension_at_index(both, -2))
        if self._diag_update is not None:
            tensor_shape.dimension_at_index(both, -1).assert_is_compatible_with(
                tensor_shape.dimension_at_index(self._diag_update.shape, -1))
            array_ops.broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self):
        return self._u

    @property
    def v(self):
        return self._v

    @property
    def is_diag_update_positive(self):
        return self._is_diag_update_positive

    @property
    def diag_update(self):
        return self._diag_update

    @property
    def diag_operator(self):
        return self._diag_operator

    @property
    def base_operator(self):
        return self._base_operator

    def _shape(self):
        batch = array_ops.broadcast_static_shape(self._base_operator.batch_shape, self._u.shape[:-2])
        return batch.concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self):
        batch = array_ops.broadcast_dynamic_shape(self._base_operator.batch_shape_tensor(),
                                                  array_ops.shape(self._u)[:-2])
        return array_ops.concat([batch, self._base_operator.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = math_ops.matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        update = math_ops.matmul(left, self._diag_operator.matmul(inner, adjoint=adjoint))
        return self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + update

    def _capacitance(self):
        """D^-1 + V^H L^-1 U, whose determinant is that of this operator over those of D and L."""
        inner = math_ops.matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _determinant(self):
        if self.is_positive_definite:
            return gen.exp(self.log_abs_determinant())
        return (gen.matrix_determinant(self._capacitance()) * self._diag_operator.determinant()
                * self._base_operator.determinant())

    def _log_abs_determinant(self):
        if self._use_cholesky:
            factor = array_ops.matrix_diag_part(gen.cholesky(self._capacitance()))
            log = 2 * math_ops.reduce_sum(gen.log(factor), axis=[-1])
        else:
            log = math_ops.cast(gen.log(math_ops.abs(gen.matrix_determinant(self._capacitance()))), self.dtype)
        others = (self._diag_operator.log_abs_determinant(), self._base_operator.log_abs_determinant())
        return log + sum(math_ops.cast(other, self.dtype) for other in others)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        """By Woodbury's formula: L^-1 - L^-1 U C^-1 V^H L^-1, with C the capacitance."""
        if self._base_operator.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        first = self._base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = math_ops.matmul(right, first, adjoint_a=True)
        if self._use_cholesky:
            inner = util.cholesky_solve_with_broadcast(gen.cholesky(self._capacitance()), inner)
        else:
            inner = util.matrix_solve_with_broadcast(self._capacitance(), inner, adjoint=adjoint)
        return first - self._base_operator.solve(math_ops.matmul(left, inner), adjoint=adjoint)
