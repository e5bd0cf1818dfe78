"""What public functions do where one of their arguments is ragged; api/dispatch_rows.py says which do what."""
import importlib
import inspect

from penstock._src.graph import ops
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.graph.tensor import Tensor
from penstock._src.ops.ragged import ragged_functional_ops
from penstock._src.ops.ragged.dynamic_ragged_shape import DynamicRaggedShape
from penstock._src.ops.ragged.ragged_tensor import convert_to_tensor_or_ragged_tensor, is_ragged


def call(kind, function, args, kwargs):
    """The function's result for ragged arguments; NotImplemented if there is none among them.

    kind: "unary", "list", "binary" for functions of each element of the first argument, of those of a list, of the
    first two, stretched to a common shape ("assert": of functions that only compare them); or "module.name" of a
    function that takes the same arguments.
    """
    if not _holds_ragged(args) and not _holds_ragged(kwargs.values()):
        return NotImplemented
    if kind in _KINDS:
        return _KINDS[kind](function, list(args), dict(kwargs))
    module, _, name = kind.partition(".")
    module = "ragged_version_one" if module == "v1" else module
    return getattr(importlib.import_module("penstock._src.ops.ragged." + module), name)(*args, **kwargs)


def _holds_ragged(values):
    for value in values:  # asked of every call: what is most common is passed over first
        kind = type(value)
        if kind is not EagerTensor and kind is not Tensor and (
                isinstance(value, (list, tuple)) and any(map(is_ragged, value)) or is_ragged(value)
                or kind is DynamicRaggedShape):
            return True
    return False


def _take(function, position, args, kwargs):
    """Takes an argument out of those given."""
    if args:
        return args.pop(0)
    names = list(inspect.signature(function).parameters)
    return kwargs.pop(names[position], None)


def _unary(function, args, kwargs):
    value = _take(function, 0, args, kwargs)
    if not is_ragged(value):
        return NotImplemented
    value = convert_to_tensor_or_ragged_tensor(value)
    return value.with_flat_values(function(value.flat_values, *args, **kwargs))


def _list(function, args, kwargs):
    values = _take(function, 0, args, kwargs)
    return ragged_functional_ops.map_flat_values(lambda flat: function(flat, *args, **kwargs), list(values))


def _pair(function, args, kwargs):
    """The first two arguments as tensors of one type, ragged ones among them; None if neither is ragged."""
    x = _take(function, 0, args, kwargs)
    y = _take(function, 1, args, kwargs)
    if is_ragged(x):
        x = convert_to_tensor_or_ragged_tensor(x)
        return x, convert_to_tensor_or_ragged_tensor(y, preferred_dtype=x.dtype)
    if is_ragged(y):
        y = convert_to_tensor_or_ragged_tensor(y)
        return convert_to_tensor_or_ragged_tensor(x, preferred_dtype=y.dtype), y
    return None


def _binary(function, args, kwargs):
    pair = _pair(function, args, kwargs)
    if pair is None:
        return NotImplemented
    with ops.name_scope(kwargs.pop("name", None), "Ragged" + function.__name__.title(), pair):
        return ragged_functional_ops.stretched(lambda a, b: function(a, b, *args, **kwargs), *pair)


def _assert(function, args, kwargs):
    pair = _pair(function, args, kwargs)
    if pair is None:
        return NotImplemented
    return function(*map(ragged_functional_ops.flat, ragged_functional_ops.stretch(*pair)), *args, **kwargs)


_KINDS = {"unary": _unary, "list": _list, "binary": _binary, "assert": _assert}
