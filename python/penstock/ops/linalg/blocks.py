"""Operators made of operators side by side: along the diagonal, and as Kronecker products."""
from penstock.framework import common_shapes, errors, tensor_shape
from penstock.ops import array_ops, control_flow_ops, linalg_ops, math_ops
from penstock.ops.linalg import linear_operator_util as util
from penstock.ops.linalg.base import make_composite_tensor
from penstock.ops.linalg.products import OfOperators

__all__ = ["LinearOperatorBlockDiag", "LinearOperatorKronecker"]
_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite")


@make_composite_tensor
class LinearOperatorBlockDiag(OfOperators):
    """Square operators along the diagonal, and 0 elsewhere."""

    _composite_tensor_fields = ("operators",)

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name=None):
        super().__init__(operators, "_ds_", "direct sum", _HINTS, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)
        if not (is_square and all(o.is_square for o in self.operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")

    def _shape(self):
        side = sum((o.domain_dimension for o in self.operators), tensor_shape.Dimension(0))
        return self._stretched_batch().concatenate([side, side])

    def _shape_tensor(self):
        side = math_ops.add_n([o.domain_dimension_tensor() for o in self.operators])
        return array_ops.concat((self._stretched_batch_tensor(), [side, side]), 0)

    def _each(self, x, axis, apply):
        """apply(operator, its block of x), one below the other."""
        sizes = [o.domain_dimension for o in self.operators]
        if any(tensor_shape.dimension_value(s) is None for s in sizes):
            sizes = [o.domain_dimension_tensor() for o in self.operators]
        blocks = array_ops.split(x, array_ops.stack(sizes), axis=axis, num=len(sizes))
        results = [apply(operator, block) for operator, block in zip(self.operators, blocks)]
        return array_ops.concat(util.broadcast_matrix_batch_dims(results), axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._each(x, -1 if adjoint_arg else -2,
                          lambda o, block: o.matmul(block, adjoint=adjoint, adjoint_arg=adjoint_arg))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._each(rhs, -1 if adjoint_arg else -2,
                          lambda o, block: o.solve(block, adjoint=adjoint, adjoint_arg=adjoint_arg))

    def _determinant(self):
        return self._product([o.determinant() for o in self.operators])

    def _log_abs_determinant(self):
        return self._sum([o.log_abs_determinant() for o in self.operators])

    def _trace(self):
        return self._sum([o.trace() for o in self.operators])

    def _diag_part(self):
        columns = [array_ops.expand_dims(o.diag_part(), -1) for o in self.operators]
        return array_ops.squeeze(array_ops.concat(util.broadcast_matrix_batch_dims(columns), axis=-2), axis=-1)

    def _to_dense(self):
        blocks = util.broadcast_matrix_batch_dims([o.to_dense() for o in self.operators])
        batch, sizes = array_ops.shape(blocks[0])[:-2], [array_ops.shape(block)[-1:] for block in blocks]

        def zeros(rows, columns):
            return array_ops.zeros(array_ops.concat([batch, rows, columns], 0), self.dtype)

        rows = [array_ops.concat([block if i == j else zeros(sizes[i], size) for j, size in enumerate(sizes)], axis=-1)
                for i, block in enumerate(blocks)]
        result = array_ops.concat(rows, axis=-2)
        result.set_shape(self.shape)
        return result

    def _assert_all(self, name):
        return control_flow_ops.group([getattr(o, name)() for o in self.operators])

    def _assert_non_singular(self):
        return self._assert_all("assert_non_singular")

    def _assert_positive_definite(self):
        return self._assert_all("assert_positive_definite")

    def _assert_self_adjoint(self):
        return self._assert_all("assert_self_adjoint")

    def _adjoint(self):
        return LinearOperatorBlockDiag([o.adjoint() for o in self.operators], **self.hints())

    def _inverse(self):
        return LinearOperatorBlockDiag([o.inverse() for o in self.operators], **self.hints())

    def _cholesky(self):
        return LinearOperatorBlockDiag([o.cholesky() for o in self.operators], is_non_singular=True,
                                       is_self_adjoint=None, is_square=True)


@make_composite_tensor
class LinearOperatorKronecker(OfOperators):
    """The Kronecker product of operators: (A x B)[i n + k, j m + l] = A[i, j] B[k, l], for B of n rows, m columns."""

    _composite_tensor_fields = ("operators",)

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        super().__init__(operators, "_x_", "Kronecker product", _HINTS, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    def _shape(self):
        rows = columns = tensor_shape.Dimension(1)
        for operator in self.operators:
            rows, columns = rows * operator.range_dimension, columns * operator.domain_dimension
        return self._stretched_batch().concatenate([rows, columns])

    def _shape_tensor(self):
        rows = self._product([o.range_dimension_tensor() for o in self.operators])
        columns = self._product([o.domain_dimension_tensor() for o in self.operators])
        return array_ops.concat((self._stretched_batch_tensor(), [rows, columns]), 0)

    def _each(self, x, adjoint, adjoint_arg, apply, rows, result_rows):
        """apply(operator, x along the operator's dimension), one after the other.

        The rows of x are a grid with a dimension for each operator. The first one is taken out, made by its operator
        into another, and put behind all others, so that in the end they stand in their order behind x's columns.
        """
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        known = x.shape
        sizes = [rows(o) for o in self.operators] + [array_ops.shape(x)[-1]]
        for operator in self.operators:
            x = self._as_matrices(x, sizes)
            x = array_ops.matrix_transpose(apply(operator, x))
            sizes = sizes[1:] + [array_ops.shape(x)[-1]]
        result = array_ops.matrix_transpose(self._as_matrices(x, sizes))
        if known.ndims is not None and self.shape.ndims is not None:
            batch = common_shapes.broadcast_shape(known[:-2], self.batch_shape)
            result.set_shape(batch.concatenate([result_rows, known[-1]]))
        return result

    def _as_matrices(self, x, sizes):
        """x with the first of `sizes` as rows, and all others as columns."""
        sides = [sizes[0], math_ops.reduce_prod(array_ops.stack(sizes[1:]))]
        return array_ops.reshape(x, array_ops.concat([array_ops.shape(x)[:-2], sides], 0))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._each(x, adjoint, adjoint_arg, lambda o, block: o.matmul(block, adjoint=adjoint),
                          lambda o: o.range_dimension_tensor() if adjoint else o.domain_dimension_tensor(),
                          self.domain_dimension if adjoint else self.range_dimension)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._each(rhs, adjoint, adjoint_arg, lambda o, block: o.solve(block, adjoint=adjoint),
                          lambda o: o.domain_dimension_tensor(), self.domain_dimension)

    def _others(self, operator):
        """How many rows the product of the other operators has."""
        return math_ops.cast(self.domain_dimension_tensor() / operator.domain_dimension_tensor(), self.dtype)

    def _determinant(self):
        return self._product([o.determinant() ** self._others(o) for o in self.operators])

    def _log_abs_determinant(self):
        return self._sum([math_ops.cast(o.log_abs_determinant(), self.dtype) * self._others(o)
                          for o in self.operators])

    def _trace(self):
        return self._product([o.trace() for o in self.operators])

    def _diag_part(self):
        result = self.operators[0].diag_part()
        for operator in self.operators[1:]:
            outer = result[..., array_ops.newaxis] * operator.diag_part()[..., array_ops.newaxis, :]
            shape = array_ops.shape(outer)
            result = array_ops.reshape(outer, array_ops.concat([shape[:-2], [shape[-2] * shape[-1]]], axis=0))
        sides = [tensor_shape.dimension_value(d) for d in (self.range_dimension, self.domain_dimension)]
        result.set_shape(self.batch_shape.concatenate([None if None in sides else min(sides)]))
        return result

    def _to_dense(self):
        result = self.operators[0].to_dense()
        new = array_ops.newaxis
        for operator in self.operators[1:]:
            outer = result[..., :, new, :, new] * operator.to_dense()[..., new, :, new, :]
            shape = array_ops.shape(outer)
            sides = [shape[-4] * shape[-3], shape[-2] * shape[-1]]
            result = array_ops.reshape(outer, array_ops.concat([shape[:-4], sides], axis=0))
        result.set_shape(self.shape)
        return result

    def _assert_all(self, name, what):
        if not all(o.is_square for o in self.operators):
            raise errors.InvalidArgumentError(
                None, None, f"All Kronecker factors must be square for the product to be {what}.")
        return control_flow_ops.group([getattr(o, name)() for o in self.operators])

    def _assert_non_singular(self):
        return self._assert_all("assert_non_singular", "invertible")

    def _assert_self_adjoint(self):
        return self._assert_all("assert_self_adjoint", "self adjoint")

    def _adjoint(self):
        return LinearOperatorKronecker([o.adjoint() for o in self.operators], **self.hints())

    def _inverse(self):
        return LinearOperatorKronecker([o.inverse() for o in self.operators], **self.hints())

    def _cholesky(self):
        return LinearOperatorKronecker([o.cholesky() for o in self.operators], is_non_singular=True,
                                       is_self_adjoint=None, is_square=True)
