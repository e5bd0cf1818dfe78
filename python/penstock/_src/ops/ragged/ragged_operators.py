"""Python's operators on ragged tensors."""
from penstock._src.graph import defaults, gen
from penstock._src.graph import dispatch
from penstock._src.graph import errors
from penstock._src.base.mode import mode
from penstock._src.core_ops import math_ops

_OPERATORS = {
    "ge": "graph.gen:greater_equal", "gt": "graph.gen:greater", "le": "graph.gen:less_equal",
    "lt": "graph.gen:less",
    "and": "graph.gen:logical_and", "or": "graph.gen:logical_or", "xor": "core_ops.math_ops:logical_xor",
    "invert": "graph.gen:logical_not", "abs": "core_ops.math_ops:abs", "neg": "core_ops.math_ops:negative",
    "add": "core_ops.math_ops:add", "sub": "core_ops.math_ops:subtract", "mul": "core_ops.math_ops:multiply",
    "div": "core_ops.math_ops:div", "truediv": "core_ops.math_ops:truediv", "floordiv": "core_ops.math_ops:floordiv",
    "mod": "graph.gen:floor_mod", "pow": "core_ops.math_ops:pow",
}
_REFLECTED = "and or xor add sub mul div truediv floordiv mod pow".split()


def _refuse(self):
    raise TypeError("RaggedTensor may not be used as a boolean.")


def _compares_elements():
    return mode.tensor_equality and defaults.executing_eagerly_outside_functions()


def _hash(self):
    if _compares_elements():
        raise TypeError("RaggedTensor is unhashable.")
    return object.__hash__(self)


def _equal(self, other):
    if other is not None and _compares_elements():
        try:
            return _EQUAL(self, other)
        except (errors.InvalidArgumentError, ValueError):  # their rows do not fit
            return False
    return self is other


def _not_equal(self, other):
    if other is not None and _compares_elements():
        try:
            return _NOT_EQUAL(self, other)
        except (errors.InvalidArgumentError, ValueError):
            return True
    return self is not other


_EQUAL = dispatch.dispatched("core_ops.math_ops:equal", math_ops.equal)
_NOT_EQUAL = dispatch.dispatched("core_ops.math_ops:not_equal", math_ops.not_equal)


def overload(cls):
    """Gives the class its operators."""
    for name, target in _OPERATORS.items():
        module, _, function = target.partition(":")
        apply = _public(target, getattr(gen if module.endswith("gen") else math_ops, function))
        setattr(cls, f"__{name}__", _method(apply, name in ("invert", "abs", "neg")))
        if name in _REFLECTED:
            setattr(cls, f"__r{name}__", lambda self, other, apply=apply: apply(other, self))
    cls.__eq__, cls.__ne__, cls.__hash__ = _equal, _not_equal, _hash
    cls.__bool__ = cls.__nonzero__ = _refuse
    cls.__array_priority__ = 100


def _public(target, function):
    """The public function as it is when it is called: dispatchers may have come."""
    return lambda *values: dispatch.dispatched(target, function)(*values)


def _method(apply, is_unary):
    return (lambda self: apply(self)) if is_unary else (lambda self, other: apply(self, other))
