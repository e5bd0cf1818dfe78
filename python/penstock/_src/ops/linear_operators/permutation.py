"""Permutations of rows as operators."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops, sort_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorPermutation"]


@make_composite_tensor
class LinearOperatorPermutation(LinearOperator):
    """The matrix that puts row perm[i] of what it is multiplied with into row i.

    perm: [..., n], integers from 0 to n - 1, each once; ValueError for others (as far as they are known), TypeError for
    another type.
    """

    _composite_tensor_fields = ("perm", "dtype")

    _experimental_parameter_ndims_to_matrix_ndims = {"perm": 1}

    def __init__(self, perm, dtype=dtypes.float32, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorPermutation"):
        with ops.name_scope(name, values=[perm]):
            self._perm = util.convert_nonref_to_tensor(perm, name="perm")
            self._check(self._perm)
            for hint, given, what in (("is_non_singular", is_non_singular, "non-singular"),
                                      ("is_square", is_square, "square")):
                if given is False:
                    raise ValueError(f"A Permutation operator is always {what}. Expected argument `{hint}` to be True. "
                                     f"Received: {given}.")
            super().__init__(dtype=dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                             is_positive_definite=is_positive_definite, is_square=True, name=name)

    @staticmethod
    def _check(perm):
        if perm.shape.ndims is not None and perm.shape.ndims < 1:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {perm}.")
        if not perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {perm}.")
        known = tensor_util.constant_value(perm) if isinstance(perm, ops.Tensor) else None
        if known is not None and np.any(np.sort(known, axis=-1) != np.arange(known.shape[-1])):
            raise ValueError("Argument `perm` must be a vector of unique integers from "
                             f"0 to {known.shape[-1] - 1}.")

    @property
    def perm(self):
        """Which row each row comes from."""
        return self._perm

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._perm)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _assert_non_singular(self):
        return control_flow_ops.no_op("assert_non_singular")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        perm = ops.convert_to_tensor(self._perm)
        if adjoint and not self.is_self_adjoint:
            perm = sort_ops.argsort(perm, axis=-1)
        outer = array_ops.broadcast_dynamic_shape(array_ops.shape(x)[:-1], array_ops.shape(perm))
        shape = array_ops.concat([outer, array_ops.shape(x)[-1:]], 0)
        rows = array_ops.reshape(gen.broadcast_to(x, shape), array_ops.concat([[-1], shape[-2:]], 0))
        perm = array_ops.reshape(gen.broadcast_to(perm, outer), array_ops.stack([-1, shape[-2]]))
        return array_ops.reshape(array_ops.gather(rows, perm, axis=-2, batch_dims=1), shape)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _columns(self):
        return math_ops.range(array_ops.shape(self._perm, out_type=self._perm.dtype)[-1])

    def _to_dense(self):
        perm = ops.convert_to_tensor(self._perm)
        return math_ops.cast(math_ops.equal(self._columns(), array_ops.expand_dims(perm, -1)), self.dtype)

    def _diag_part(self):
        return math_ops.cast(math_ops.equal(self._columns(), ops.convert_to_tensor(self._perm)), self.dtype)

    def _cond(self):
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)
