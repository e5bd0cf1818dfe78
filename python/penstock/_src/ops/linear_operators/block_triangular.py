"""Operators in the blocks of a lower triangle."""
from penstock._src.graph import common_shapes, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import make_composite_tensor
from penstock._src.ops.linear_operators.blocks import OfBlocks

__all__ = ["LinearOperatorBlockLowerTriangular"]


@make_composite_tensor
class LinearOperatorBlockLowerTriangular(OfBlocks):
    """Operators in a lower triangle of blocks, and 0 above it.

    operators: a list of rows; row i has i + 1 operators, of as many rows each, the last of them square. All in a column
    have as many columns. Products and solutions take and give, instead of one matrix, a list of its blocks too.
    ValueError for operators that do not fit, TypeError for operators of several types.
    """

    _composite_tensor_fields = ("operators",)

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorBlockLowerTriangular"):
        self._operators = [list(row) for row in operators]
        self._check()
        dtype = self._operators[0][0].dtype
        diagonal = [row[-1] for row in self._operators]
        if all(o.is_non_singular for o in diagonal):
            if is_non_singular is False:
                raise ValueError("A blockwise lower-triangular operator with non-singular operators on the main "
                                 "diagonal is always non-singular.")
            is_non_singular = True
        if any(o.is_non_singular is False for o in diagonal):
            if is_non_singular:
                raise ValueError("A blockwise lower-triangular operator with a singular operator on the main diagonal "
                                 "is always singular.")
            is_non_singular = False
        if is_square is False:
            raise ValueError("`is_square` must be True or None: all operators on the diagonal are square.")
        super().__init__(dtype=dtype, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                         is_positive_definite=is_positive_definite, is_square=True, name=name)

    def _check(self):
        rows = self._operators
        if not rows:
            raise ValueError("Argument `operators` must be a list of >=1 operators.")
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise ValueError(f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} "
                                 "blocks.")
        if len({o.dtype for row in rows for o in row}) > 1:
            names = [(o.name, o.dtype) for row in rows for o in row]
            raise TypeError(f"Expected all operators to have the same dtype.  Found {names}")
        for i, row in enumerate(rows):
            if row[-1].is_square is False:
                raise ValueError("Operators on the diagonal must be square")
            for j, operator in enumerate(row):
                if not operator.range_dimension.is_compatible_with(row[-1].range_dimension):
                    raise ValueError(f"Operators in row {i} must have the same range dimension: "
                                     f"{[o.range_dimension for o in row]}")
                if not operator.domain_dimension.is_compatible_with(rows[j][j].domain_dimension):
                    raise ValueError(f"Operators in column {j} must have the same domain dimension")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [[0] * len(row) for row in self._operators]}

    @property
    def operators(self):
        """The operators, row by row."""
        return self._operators

    @property
    def _diagonal(self):
        return [row[-1] for row in self._operators]

    def _shape(self):
        side = sum((o.domain_dimension for o in self._diagonal), tensor_shape.Dimension(0))
        batch = self._operators[0][0].batch_shape
        for row in self._operators[1:]:
            for operator in row:
                batch = common_shapes.broadcast_shape(batch, operator.batch_shape)
        return batch.concatenate([side, side])

    def _shape_tensor(self):
        side = math_ops.add_n([o.domain_dimension_tensor() for o in self._diagonal])
        batch = self._operators[0][0].batch_shape_tensor()
        for row in self._operators[1:]:
            for operator in row:
                batch = array_ops.broadcast_dynamic_shape(batch, operator.batch_shape_tensor())
        return array_ops.concat([batch, [side, side]], 0)

    def _multiplied(self, blocks, adjoint, adjoint_arg):
        count, results = len(self._operators), []
        for i in range(count):
            # A block of the adjoint matrix's row is that of this one's column.
            parts = [self._operators[j][i].matmul(blocks[j], adjoint=True, adjoint_arg=adjoint_arg)
                     for j in range(i, count)] if adjoint else \
                [self._operators[i][j].matmul(blocks[j], adjoint_arg=adjoint_arg) for j in range(i + 1)]
            results.append(sum(parts[1:], parts[0]))
        return results

    def _solved(self, blocks, adjoint):
        count = len(self._operators)
        solutions = [None] * count
        for i in reversed(range(count)) if adjoint else range(count):
            rest = blocks[i]
            for j in range(i + 1, count) if adjoint else range(i):
                operator = self._operators[j][i] if adjoint else self._operators[i][j]
                rest = rest - operator.matmul(solutions[j], adjoint=adjoint)
            solutions[i] = self._diagonal[i].solve(rest, adjoint=adjoint)
        return solutions

    # What the diagonal's operators tell.

    def _determinant(self):
        return self._over_diagonal("determinant", lambda a, b: a * b)

    def _log_abs_determinant(self):
        return self._over_diagonal("log_abs_determinant", lambda a, b: a + b)

    def _trace(self):
        return self._over_diagonal("trace", lambda a, b: a + b)

    def _over_diagonal(self, method, join):
        first, *others = (getattr(o, method)() for o in self._diagonal)
        for other in others:
            first = join(first, other)
        return first

    def _columns_of_diagonal(self, method):
        columns = [array_ops.expand_dims(getattr(o, method)(), -1) for o in self._diagonal]
        return array_ops.squeeze(array_ops.concat(util.broadcast_matrix_batch_dims(columns), axis=-2), axis=-1)

    def _diag_part(self):
        return self._columns_of_diagonal("diag_part")

    def _eigvals(self):
        return self._columns_of_diagonal("eigvals")

    def _assert_non_singular(self):
        return control_flow_ops.group([o.assert_non_singular() for o in self._diagonal])

    def _to_dense(self):
        flat = util.broadcast_matrix_batch_dims([o.to_dense() for row in self._operators for o in row])
        rows, count = [], len(self._operators)
        for i in range(count):
            blocks, flat = flat[:i + 1], flat[i + 1:]
            outer = array_ops.shape(blocks[0])[:-1]
            for operator in self._diagonal[i + 1:]:
                shape = array_ops.concat([outer, [operator.domain_dimension_tensor()]], 0)
                blocks.append(array_ops.zeros(shape, self.dtype))
            rows.append(array_ops.concat(blocks, axis=-1))
        result = array_ops.concat(rows, axis=-2)
        result.set_shape(self.shape)
        return result
