"""Operators made of operators: adjoints, inverses, products."""
import math

from penstock._src.graph import common_shapes, dtypes, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import circulant, dense, diagonal
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorAdjoint", "LinearOperatorComposition", "LinearOperatorInversion", "OfOperators", "multiply"]


class _Turned(LinearOperator):
    """The adjoint or the inverse of an operator, which has the same hints."""

    def __init__(self, operator, what, suffix, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name):
        self._operator = operator
        given = dict(is_square=is_square, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                     is_positive_definite=is_positive_definite)
        hints = {}
        for hint, value in given.items():
            text = hint[3:].replace("_", "-")
            message = f"An operator is {text} if and only if its {what} is {text}."
            hints[hint] = util.use_operator_or_provided_hint_unless_contradicting(operator, hint, value, message)
        name = operator.name + suffix if name is None else name
        with ops.name_scope(name, values=operator.graph_parents):
            super().__init__(dtype=operator.dtype, graph_parents=operator.graph_parents, name=name, **hints)

    @property
    def operator(self):
        return self._operator

    def _assert_non_singular(self):
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self.operator.assert_self_adjoint()


@make_composite_tensor
class LinearOperatorAdjoint(_Turned):
    """The adjoint of an operator."""

    _composite_tensor_fields = ("operator",)

    _experimental_parameter_ndims_to_matrix_ndims = {"operator": 0}

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        super().__init__(operator, "adjoint", "_adjoint", is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self):
        shape = self.operator.shape
        return shape if shape.ndims is None else shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self.operator.shape_tensor()
        return array_ops.concat([shape[:-2], [shape[-1], shape[-2]]], axis=-1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return self.operator.matvec(x, adjoint=not adjoint)

    def _turned(self, value):
        return value if self.is_self_adjoint else math_ops.conj(value)

    def _determinant(self):
        return self._turned(self.operator.determinant())

    def _log_abs_determinant(self):
        return self.operator.log_abs_determinant()

    def _trace(self):
        return self._turned(self.operator.trace())

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs, adjoint=False):
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _to_dense(self):
        values = self.operator.to_dense()
        return values if self.is_self_adjoint else linalg_ops.adjoint(values)

    def _diag_part(self):
        return self._turned(self.operator.diag_part())

    def _adjoint(self):
        return self.operator


@make_composite_tensor
class LinearOperatorInversion(_Turned):
    """The inverse of an operator."""

    _composite_tensor_fields = ("operator",)

    _experimental_parameter_ndims_to_matrix_ndims = {"operator": 0}

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        for hint, given in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            if getattr(operator, hint) is False or given is False:
                raise ValueError(f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  "
                                 f"Found {getattr(operator, hint)}, {given}")
        super().__init__(operator, "inverse", "_inv", is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self):
        return self.operator.shape

    def _shape_tensor(self):
        return self.operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self.operator.log_abs_determinant()

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _inverse(self):
        return self.operator


class OfOperators(LinearOperator):
    """What several operators of one type make together.

    joint: stands between their names; what: what they make; implied: the hints that it has if all of them have.
    """


    def __init__(self, operators, joint, what, implied, is_non_singular, is_self_adjoint, is_positive_definite,
                 is_square, name):
        check_ops.assert_proper_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of >=1 operators. Found: {operators}")
        self._operators = operators
        if any(o.dtype != operators[0].dtype for o in operators):
            types = "   ".join(str((o.name, o.dtype)) for o in operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {types}")
        hints = dict(is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                     is_positive_definite=is_positive_definite, is_square=is_square)
        for hint in implied:
            if all(getattr(o, hint) for o in operators):
                if hints[hint] is False:
                    text = hint[3:].replace("_", "-")
                    raise ValueError(f"The {what} of {text} operators is always {text}.")
                hints[hint] = True
        parents = [parent for o in operators for parent in o.graph_parents]
        name = joint.join(o.name for o in operators) if name is None else name
        with ops.name_scope(name, values=parents):
            super().__init__(dtype=operators[0].dtype, graph_parents=parents, name=name, **hints)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self):
        return {"operators": [0] * len(self.operators)}

    @property
    def operators(self):
        return self._operators

    def _stretched_batch(self):
        batch = self.operators[0].batch_shape
        for operator in self.operators[1:]:
            batch = common_shapes.broadcast_shape(batch, operator.batch_shape)
        return batch

    def _stretched_batch_tensor(self):
        batch = self.operators[0].batch_shape_tensor()
        for operator in self.operators[1:]:
            batch = array_ops.broadcast_dynamic_shape(batch, operator.batch_shape_tensor())
        return batch

    def _product(self, values):
        return math.prod(values[1:], start=values[0])

    def _sum(self, values):
        if any(v.dtype.is_complex for v in values):
            values = [math_ops.cast(v, self.dtype) for v in values]
        return sum(values[1:], values[0])


@make_composite_tensor
class LinearOperatorComposition(OfOperators):
    """The product of operators."""

    _composite_tensor_fields = ("operators",)

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        super().__init__(operators, "_o_", "composition", ["is_non_singular"], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    def _shape(self):
        for left, right in zip(self.operators, self.operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        sides = [self.operators[0].range_dimension, self.operators[-1].domain_dimension]
        return self._stretched_batch().concatenate(tensor_shape.TensorShape(sides))

    def _shape_tensor(self):
        if self.shape.is_fully_defined():
            return ops.convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32, name="shape")
        sides = array_ops.stack([self.operators[0].range_dimension_tensor(),
                                 self.operators[-1].domain_dimension_tensor()])
        return array_ops.concat((self._stretched_batch_tensor(), sides), 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        order = self.operators if adjoint else self.operators[::-1]
        result = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        order = self.operators[::-1] if adjoint else self.operators
        solution = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            solution = operator.solve(solution, adjoint=adjoint)
        return solution

    def _determinant(self):
        return self._product([o.determinant() for o in self.operators])

    def _log_abs_determinant(self):
        return self._sum([o.log_abs_determinant() for o in self.operators])


def _both(a, b, hint):
    """True if both operators have the hint, False if it is certain that one has not."""
    values = getattr(a, hint), getattr(b, hint)
    return False if False in values else True if all(values) else None


def _is_product_square(a, b):
    """Whether the product of two operators is square; None if that is not known."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    return None if a.is_square is None or b.is_square is None else False


def _commuting_hints(a, b):
    """Of the product of operators that commute."""
    self_adjoint = _both(a, b, "is_self_adjoint")
    positive = True if _both(a, b, "is_positive_definite") and self_adjoint else None
    return dict(is_non_singular=_both(a, b, "is_non_singular"), is_self_adjoint=self_adjoint or None,
                is_positive_definite=positive, is_square=True)


def multiply(a, b):
    """The product of two operators, in the simplest form that it has."""
    diag, scaled = diagonal.LinearOperatorDiag, diagonal.LinearOperatorScaledIdentity
    if isinstance(a, diagonal.LinearOperatorIdentity):
        return b
    if isinstance(b, diagonal.LinearOperatorIdentity):
        return a
    for zeros, other in ((a, b), (b, a)):
        if isinstance(zeros, diagonal.LinearOperatorZeros):
            if not zeros.is_square or not other.is_square:
                raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
                                 "supported at this time.")
            return zeros
    if isinstance(a, diag) and isinstance(b, diag):
        return diag(a.diag * b.diag, **_commuting_hints(a, b))
    if isinstance(a, scaled) and isinstance(b, scaled):
        return scaled(a.domain_dimension_tensor(), a.multiplier * b.multiplier, **_commuting_hints(a, b))
    for first, second in ((a, b), (b, a)):
        if isinstance(first, scaled) and isinstance(second, diag):
            return diag(second.diag * first.multiplier[..., array_ops.newaxis], **_commuting_hints(a, b))
    if type(a) is type(b) and isinstance(a, circulant.LinearOperatorCirculant):
        return type(a)(a.spectrum * b.spectrum, input_output_dtype=a.dtype, **_commuting_hints(a, b))
    triangular = dense.LinearOperatorLowerTriangular
    if isinstance(a, diag) and isinstance(b, triangular):
        return triangular(a.diag[..., array_ops.newaxis] * b.to_dense(),
                          is_non_singular=_both(a, b, "is_non_singular"))
    if isinstance(a, triangular) and isinstance(b, diag):
        return triangular(a.to_dense() * array_ops.expand_dims(b.diag, -2),
                          is_non_singular=_both(a, b, "is_non_singular"))
    square = _is_product_square(a, b)
    hints = dict(is_square=square)
    if square:
        hints["is_non_singular"] = _both(a, b, "is_non_singular")
    elif square is False:
        hints.update(is_non_singular=False, is_self_adjoint=False, is_positive_definite=False)
    return LinearOperatorComposition([a, b], **hints)
