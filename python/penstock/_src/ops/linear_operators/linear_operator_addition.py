"""Sums of linear operators: those whose sum is cheap to hold come first, what is like a diagonal before triangles."""
from penstock._src.graph import ops, tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.linear_operators import dense, diagonal
from penstock._src.ops.linear_operators.base import LinearOperator

__all__ = []

_IDENTITIES = (diagonal.LinearOperatorIdentity, diagonal.LinearOperatorScaledIdentity)
_DIAGONALS = (*_IDENTITIES, diagonal.LinearOperatorDiag)


def add_operators(operators, operator_name=None, addition_tiers=None, name=None):
    """A list of operators with the same sum as a list of operators, as short as the adders can make it.

    addition_tiers: lists of adders, used up one after the other; by default all sums are taken, so that one is left.
    ValueError if the matrices are of different sizes, or batches do not broadcast.
    """
    check_ops.assert_proper_iterable(operators)
    left = list(reversed(list(operators)))
    if not left:
        raise ValueError(f"Argument `operators` must contain at least one operator. Received: {left}.")
    if not all(isinstance(op, LinearOperator) for op in left):
        raise TypeError(f"Argument `operators` must contain only LinearOperator instances. Received: {left}.")
    _check_shapes(left)
    with ops.name_scope(name or "add_operators"):
        for tier in _default_tiers() if addition_tiers is None else addition_tiers:
            left = _added(left, tier, operator_name)
        return left


def _check_shapes(operators):
    first = operators[0]
    batch = first.batch_shape
    for op in operators[1:]:
        for what in ("domain_dimension", "range_dimension"):
            if not getattr(first, what).is_compatible_with(getattr(op, what)):
                received = [(op.name, tensor_shape.dimension_value(getattr(op, what))) for op in operators]
                raise ValueError(f"All `operators` must have the same `{what}`. Received: {received}.")
        batch = array_ops.broadcast_static_shape(batch, op.batch_shape)


def _added(operators, tier, operator_name):
    """What is left when no two operators can be added by an adder of the tier."""
    done, waiting = [], list(operators)
    while waiting:
        first = waiting.pop()
        pair = next(((adder, other) for other in reversed(waiting) for adder in tier if adder.can_add(first, other)),
                    None)
        if pair is None:
            done.append(first)
        else:
            adder, other = pair
            waiting = [op for op in waiting if op is not other]
            waiting.append(adder.add(first, other, operator_name))
    return done


class _Adder:
    """Adds two operators of some classes."""

    _classes = ()

    @property
    def name(self):
        return type(self).__name__

    def can_add(self, op1, op2):
        return isinstance(op1, self._classes) and isinstance(op2, self._classes)

    def add(self, op1, op2, operator_name, hints=None):
        """The sum; both self-adjoint or positive definite make it so, unless `hints` says otherwise."""
        known = dict.fromkeys(("is_self_adjoint", "is_positive_definite", "is_non_singular"))
        if op1.is_self_adjoint and op2.is_self_adjoint:
            known["is_self_adjoint"] = True
        if op1.is_positive_definite and op2.is_positive_definite:
            known["is_positive_definite"] = True
        known.update({key: getattr(hints, key) for key in known if getattr(hints, key, None) is not None})
        if known["is_positive_definite"] and known["is_self_adjoint"]:
            known["is_non_singular"] = True
        operator_name = operator_name or f"Add/{op1.name}__{op2.name}/"
        with ops.name_scope(self.name):
            return self._sum(op1, op2, name=operator_name, **known)


class _AddAndReturnScaledIdentity(_Adder):
    _classes = _IDENTITIES

    def _sum(self, op1, op2, **made):
        one, two = (op.multiplier if isinstance(op, diagonal.LinearOperatorScaledIdentity)
                    else array_ops.ones(op.batch_shape_tensor(), dtype=op.dtype) for op in (op1, op2))
        return diagonal.LinearOperatorScaledIdentity(num_rows=op1.range_dimension_tensor(), multiplier=one + two,
                                                     **made)


class _AddAndReturnDiag(_Adder):
    _classes = _DIAGONALS

    def _sum(self, op1, op2, **made):
        return diagonal.LinearOperatorDiag(diag=op1.diag_part() + op2.diag_part(), **made)


class _AddAndReturnTriL(_Adder):
    _classes = (*_DIAGONALS, dense.LinearOperatorLowerTriangular)

    def _sum(self, op1, op2, **made):
        return dense.LinearOperatorLowerTriangular(tril=_dense_sum(op1, op2), **made)


class _AddAndReturnMatrix(_Adder):
    _classes = LinearOperator

    def _sum(self, op1, op2, **made):
        return dense.LinearOperatorFullMatrix(matrix=_dense_sum(op1, op2), **made)


def _dense_sum(op1, op2):
    cheap, other = (op1, op2) if isinstance(op1, _DIAGONALS) else (op2, op1)
    return cheap.add_to_tensor(other.to_dense())


def _default_tiers():
    return [[_AddAndReturnScaledIdentity()], [_AddAndReturnDiag()], [_AddAndReturnTriL()], [_AddAndReturnMatrix()]]
