"""and, or, not, == and != of anything; of tensors, ops."""
from penstock._src.graph import gen, tensor_util
from penstock._src.base.mode import mode
from penstock._src.graph.tensor import Tensor


def _symbolic(x):
    return isinstance(x, Tensor) or tensor_util.is_dense_tensor_like(x)  # a variable


def not_(a):
    """not a"""
    return gen.logical_not(a) if _symbolic(a) else not a


def and_(a, b):
    """a() and b()"""
    value = a()
    if not _symbolic(value):
        return value and b()
    value = _as_bool(value)
    if value._is_eager:
        return gen.logical_and(value, _as_bool(b())) if bool(value) else value
    from penstock._src.control_flow import cond
    return cond.cond(value, lambda: _as_bool(b()), lambda: value)


def or_(a, b):
    """a() or b()"""
    value = a()
    if not _symbolic(value):
        return value or b()
    value = _as_bool(value)
    if value._is_eager:
        return value if bool(value) else gen.logical_or(value, _as_bool(b()))
    from penstock._src.control_flow import cond
    return cond.cond(value, lambda: value, lambda: _as_bool(b()))


def _as_bool(x):
    from penstock._src.graph import conversion
    return conversion.convert_to_tensor(x)


def eq(a, b):
    """a == b; elementwise if one is a tensor."""
    if (_symbolic(a) or _symbolic(b)) and not mode.tensor_equality:
        return _equal(a, b)
    return a == b  # of tensors too, which compare themselves


def not_eq(a, b):
    """a != b; elementwise if one is a tensor."""
    if (_symbolic(a) or _symbolic(b)) and not mode.tensor_equality:
        return not_(_equal(a, b))
    return a != b


def _equal(a, b):
    if a is None or b is None:
        return False
    try:
        return gen.equal(a, b, incompatible_shape_error=False)
    except (TypeError, ValueError):
        if type(a) is type(b) or _symbolic(a) and _symbolic(b):
            raise
        return a is b
