"""Matrices that have elements beside the diagonal only."""
from penstock._src.graph import gen, ops
from penstock._src.core_ops import array_ops, manip_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorTridiag"]


@make_composite_tensor
class LinearOperatorTridiag(LinearOperator):
    """A square matrix with a diagonal, one above and one below it.

    diagonals: of format "compact" [..., 3, n] with those above, on and below the diagonal, of which the last of the
    first and the first of the last mean nothing; of format "sequence" a list of these three; of format "matrix"
    matrices, of which only these diagonals are looked at. ValueError for another format.
    """

    _composite_tensor_fields = ("diagonals", "diagonals_format")

    def __init__(self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorTridiag"):
        with ops.name_scope(name, values=[diagonals]):
            if diagonals_format not in ("compact", "matrix", "sequence"):
                raise ValueError("Argument `diagonals_format` must be one of compact, matrix, or sequence. "
                                 f"Received : {diagonals_format}.")
            if diagonals_format == "sequence":
                self._diagonals = [util.convert_nonref_to_tensor(d, name=f"diag_{i}") for i, d in enumerate(diagonals)]
                dtype = self._diagonals[0].dtype
            else:
                self._diagonals = util.convert_nonref_to_tensor(diagonals, name="diagonals")
                dtype = self._diagonals.dtype
            self._diagonals_format = diagonals_format
            super().__init__(dtype=dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                             is_positive_definite=is_positive_definite, is_square=is_square, name=name)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"diagonals": [1, 1, 1] if self._diagonals_format == "sequence" else 2}

    @property
    def diagonals(self):
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self):
        """In which format they were given."""
        return self._diagonals_format

    def _shape(self):
        if self._diagonals_format == "matrix":
            return self._diagonals.shape
        if self._diagonals_format == "compact":
            outer, n = self._diagonals.shape[:-2], self._diagonals.shape[-1:]
        else:
            n = self._diagonals[1].shape[-1:]
            outer = self._diagonals[0].shape[:-1]
            for diagonal in self._diagonals[1:]:
                outer = array_ops.broadcast_static_shape(outer, diagonal.shape[:-1])
        return outer.concatenate(n).concatenate(n)

    def _shape_tensor(self):
        if self._diagonals_format == "matrix":
            return array_ops.shape(self._diagonals)
        shape = array_ops.shape(self._bands()[1])
        return array_ops.concat([shape, shape[-1:]], 0)

    def _bands(self):
        """The diagonals above, on and below the diagonal, [..., n] each, of one shape."""
        if self._diagonals_format == "compact":
            return array_ops.unstack(ops.convert_to_tensor(self._diagonals), num=3, axis=-2)
        if self._diagonals_format == "sequence":
            above, main, below = (array_ops.expand_dims(d, -2) for d in self._diagonals)
            return [array_ops.squeeze(d, -2) for d in util.broadcast_matrix_batch_dims([above, main, below])]
        bands = array_ops.matrix_diag_part(self._diagonals, k=(-1, 1), align="LEFT_RIGHT")
        return array_ops.unstack(bands, num=3, axis=-2)

    def _turned(self):
        """The bands of the adjoint matrix."""
        above, main, below = (math_ops.conj(band) for band in self._bands())
        return [manip_ops.roll(below, shift=-1, axis=-1), main, manip_ops.roll(above, shift=1, axis=-1)]

    def _assert_self_adjoint(self):
        if self._diagonals_format == "matrix":
            return super()._assert_self_adjoint()
        above, main, _ = self._bands()
        return control_flow_ops.group([
            util.assert_zero_imag_part(main, message="This tridiagonal operator contained non-zero imaginary values on "
                                                     "the diagonal."),
            check_ops.assert_equal(self._turned()[0][..., :-1], above[..., :-1],
                                   message="This tridiagonal operator has non-conjugate subdiagonal and "
                                           "superdiagonal.")])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        above, main, below = (array_ops.expand_dims(b, -1) for b in (self._turned() if adjoint else self._bands()))
        upper, lower = above[..., :-1, :] * x[..., 1:, :], below[..., 1:, :] * x[..., :-1, :]
        row = array_ops.zeros_like(upper[..., :1, :])
        if upper.shape.ndims is None or upper.shape.as_list()[-2] == 0:  # one row: there is nothing beside the diagonal
            row = array_ops.zeros_like((main * x)[..., :1, :])
        return main * x + array_ops.concat([upper, row], -2) + array_ops.concat([row, lower], -2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        bands = array_ops.stack(self._turned() if adjoint else self._bands(), axis=-2)
        bands, rhs = util.broadcast_matrix_batch_dims([bands, rhs])
        return gen.tridiagonal_solve(bands, rhs, partial_pivoting=True)

    def _diag_part(self):
        return self._bands()[1]

    def _to_dense(self):
        if self._diagonals_format == "matrix":
            return ops.convert_to_tensor(self._diagonals)
        return array_ops.matrix_diag(array_ops.stack(self._bands(), axis=-2), k=(-1, 1), align="LEFT_RIGHT")

    def _adjoint(self):
        return LinearOperatorTridiag(array_ops.stack(self._turned(), axis=-2), **self.hints())
