"""Operators made of operators side by side: along the diagonal, and as Kronecker products."""
from penstock._src.graph import common_shapes, errors, ops, tensor_shape
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor
from penstock._src.ops.linear_operators.products import OfOperators

__all__ = ["LinearOperatorBlockDiag", "LinearOperatorKronecker", "OfBlocks"]
_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite")


class OfBlocks(LinearOperator):
    """An operator of blocks: its products and solutions take and give lists of blocks too, instead of one matrix.

    A class has `_diagonal`, the operators on the diagonal, and `_multiplied` and `_solved`, which do it with blocks.
    """

    def _block_domain_dimensions(self):
        return [o.domain_dimension for o in self._diagonal]

    def _block_range_dimensions(self):
        return [o.range_dimension for o in self._diagonal]

    def _block_domain_dimension_tensors(self):
        return [o.domain_dimension_tensor() for o in self._diagonal]

    def _block_range_dimension_tensors(self):
        return [o.range_dimension_tensor() for o in self._diagonal]

    def _is_blocks(self, x):
        return isinstance(x, (list, tuple)) and len(x) == len(self._diagonal) and \
            all(isinstance(b, LinearOperator) or getattr(ops.convert_to_tensor(b).shape, "rank", 0) for b in x) and \
            len(x) > 1

    def _as_blocks(self, x, axis, of_range):
        """The blocks of `x`, split along an axis."""
        sizes = self._block_range_dimensions() if of_range else self._block_domain_dimensions()
        if any(tensor_shape.dimension_value(s) is None for s in sizes):
            sizes = self._block_range_dimension_tensors() if of_range else self._block_domain_dimension_tensors()
        return array_ops.split(x, array_ops.stack(sizes), axis=axis, num=len(sizes))

    def _checked(self, blocks, axis, of_range):
        result = []
        sizes = self._block_range_dimensions() if of_range else self._block_domain_dimensions()
        for block, size in zip(blocks, sizes):
            if not isinstance(block, LinearOperator):
                block = ops.convert_to_tensor(block)
                self._check_type(block)
                size.assert_is_compatible_with(block.shape[axis])
            result.append(block)
        return result

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """A x for matrices x, lists of their blocks, or a LinearOperator."""
        if not self._is_blocks(x):
            return super().matmul(x, adjoint, adjoint_arg, name)
        with self._name_scope(name):
            return self._multiplied(self._checked(x, -1 if adjoint_arg else -2, adjoint), adjoint, adjoint_arg)

    def matvec(self, x, adjoint=False, name="matvec"):
        """A x for vectors x, or lists of their blocks."""
        if not self._is_blocks(x):
            return super().matvec(x, adjoint, name)
        with self._name_scope(name):
            columns = [array_ops.expand_dims(block, -1) for block in self._checked(x, -1, adjoint)]
            return [array_ops.squeeze(y, -1) for y in self._multiplied(columns, adjoint, False)]

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """The x with A x = rhs, for matrices, lists of their blocks, or a LinearOperator."""
        if not self._is_blocks(rhs):
            return super().solve(rhs, adjoint, adjoint_arg, name)
        self._require_solvable()
        with self._name_scope(name):
            blocks = self._checked(rhs, -1 if adjoint_arg else -2, not adjoint)
            return self._solved([linalg_ops.adjoint(b) for b in blocks] if adjoint_arg else blocks, adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """The x with A x = rhs, for vectors, or lists of their blocks."""
        if not self._is_blocks(rhs):
            return super().solvevec(rhs, adjoint, name)
        with self._name_scope(name):
            columns = [array_ops.expand_dims(block, -1) for block in self._checked(rhs, -1, not adjoint)]
            return [array_ops.squeeze(x, -1) for x in self._solved(columns, adjoint)]

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        blocks = self._as_blocks(x, -1 if adjoint_arg else -2, adjoint)
        results = self._multiplied(blocks, adjoint, adjoint_arg)
        return array_ops.concat(util.broadcast_matrix_batch_dims(results), axis=-2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        blocks = self._as_blocks(linalg_ops.adjoint(rhs) if adjoint_arg else rhs, -2, not adjoint)
        return array_ops.concat(util.broadcast_matrix_batch_dims(self._solved(blocks, adjoint)), axis=-2)


@make_composite_tensor
class LinearOperatorBlockDiag(OfBlocks, OfOperators):
    """Operators along the diagonal, and 0 elsewhere. Version 1 refuses others than square ones with a ValueError."""

    _composite_tensor_fields = ("operators",)

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name=None):
        super().__init__(operators, "_ds_", "direct sum", _HINTS, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)
        if not tf2.enabled() and not (is_square and all(o.is_square for o in self.operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")

    @property
    def _diagonal(self):
        return self.operators

    def _shape(self):
        zero = tensor_shape.Dimension(0)
        rows, columns = sum(self._block_range_dimensions(), zero), sum(self._block_domain_dimensions(), zero)
        return self._stretched_batch().concatenate([rows, columns])

    def _shape_tensor(self):
        columns = math_ops.add_n(self._block_domain_dimension_tensors())
        rows = columns if all(o.is_square for o in self.operators) else \
            math_ops.add_n(self._block_range_dimension_tensors())
        return array_ops.concat((self._stretched_batch_tensor(), [rows, columns]), 0)

    def _multiplied(self, blocks, adjoint, adjoint_arg):
        return [o.matmul(block, adjoint=adjoint, adjoint_arg=adjoint_arg) for o, block in zip(self.operators, blocks)]

    def _matmul_operator(self, right):
        if tf2.enabled() and isinstance(right, LinearOperatorBlockDiag) and len(right.operators) == len(self.operators):
            return LinearOperatorBlockDiag([a.matmul(b) for a, b in zip(self.operators, right.operators)])
        return super()._matmul_operator(right)

    def _solved(self, blocks, adjoint):
        return [o.solve(block, adjoint=adjoint) for o, block in zip(self.operators, blocks)]

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        blocks = self._as_blocks(rhs, -1 if adjoint_arg else -2, not adjoint)
        results = [o.solve(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
                   for o, block in zip(self.operators, blocks)]
        return array_ops.concat(util.broadcast_matrix_batch_dims(results), axis=-2)

    def _require_square_blocks(self, what):
        if not all(o.is_square for o in self.operators):
            raise NotImplementedError(f"`{what}` not implemented for an operator whose blocks are not square.")

    def _determinant(self):
        return self._product([o.determinant() for o in self.operators])

    def _log_abs_determinant(self):
        return self._sum([o.log_abs_determinant() for o in self.operators])

    def _trace(self):
        self._require_square_blocks("trace")
        return self._sum([o.trace() for o in self.operators])

    def _diag_part(self):
        self._require_square_blocks("diag_part")
        columns = [array_ops.expand_dims(o.diag_part(), -1) for o in self.operators]
        return array_ops.squeeze(array_ops.concat(util.broadcast_matrix_batch_dims(columns), axis=-2), axis=-1)

    def _to_dense(self):
        blocks = util.broadcast_matrix_batch_dims([o.to_dense() for o in self.operators])
        batch, shapes = array_ops.shape(blocks[0])[:-2], [array_ops.shape(block)[-2:] for block in blocks]

        def zeros(i, j):
            return array_ops.zeros(array_ops.concat([batch, shapes[i][:1], shapes[j][1:]], 0), self.dtype)

        rows = [array_ops.concat([block if i == j else zeros(i, j) for j in range(len(blocks))], axis=-1)
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
