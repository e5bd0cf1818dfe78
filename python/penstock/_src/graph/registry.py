"""Registries by name: of gradient functions, of functions that turn collections into messages."""
import sys
from typing import Any

from penstock._src.base import compat
from penstock._src.base import hooks


class Registry:
    """Names and what they stand for."""

    def __init__(self, name):
        self._name = name
        self._items = {}
        self._places = {}

    def register(self, candidate, name=None):
        """Enters `candidate`. KeyError if the name is taken."""
        name = name or candidate.__name__
        if name in self._items:
            raise KeyError(f"Registering two {self._name} with name '{name}'! (Previous registration was in "
                           f"{self._places[name]})")
        self._items[name] = candidate
        frame: Any = sys._getframe(1)
        frame = frame.f_back if frame.f_globals.get("__name__") == __name__ else frame
        self._places[name] = f"{frame.f_code.co_name} {frame.f_code.co_filename}:{frame.f_lineno}"

    def list(self):
        """The names."""
        return list(self._items)

    def lookup(self, name):
        """What a name stands for. LookupError if nothing does."""
        name = compat.as_str(name)
        if name not in self._items:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._items[name]


gradient_registry = Registry("gradient")
shape_registry = Registry("shape functions")
proto_function_registry = Registry("proto functions")
statistics_registry = Registry("statistics functions")


class RegisterGradient:
    """Decorator: makes a function `f(op, *output_gradients)` the gradient of an op type, or of a name that
    Graph.gradient_override_map puts in its place."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        gradient_registry.register(f, self._op_type)
        return f


def NotDifferentiable(op_type):  # noqa: N802
    """Declares that gradients stop at ops of this type."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    gradient_registry.register(None, op_type)


NoGradient = NotDifferentiable


class RegisterShape:
    """Kept for programs that use it: shapes are inferred by the runtime, so it registers nothing that counts."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")

    def __call__(self, f):
        return f


def get_gradient_function(op):
    """The Python gradient function registered for an operation, or None. LookupError if none was registered."""
    if not op.inputs:
        return None
    try:
        op_type = op.get_attr("_gradient_op_type")
    except ValueError:
        op_type = op.type
    return gradient_registry.lookup(op_type)


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Says how a collection's items become messages and come back from them."""
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    proto_function_registry.register((proto_type, to_proto, from_proto), collection_name)


def _proto_entry(collection_name, index):
    # A program may not have imported the module that registers a collection when it imports a graph with it.
    if hooks.is_provided(f"collection.{collection_name}"):
        hooks.Hook(f"collection.{collection_name}").get()
    try:
        return proto_function_registry.lookup(collection_name)[index]
    except LookupError:
        return None


def get_collection_proto_type(collection_name):
    """The message class of a collection's items, or None."""
    return _proto_entry(collection_name, 0)


def get_to_proto_function(collection_name):
    """The function that turns an item into a message, or None."""
    return _proto_entry(collection_name, 1)


def get_from_proto_function(collection_name):
    """The function that makes an item of a message, or None."""
    return _proto_entry(collection_name, 2)


class OpStats:
    """A statistic of an operation, such as its floating-point operations; None if it is unknown."""

    def __init__(self, statistic_type, value=None):
        self.statistic_type = statistic_type
        self.value = value

    @property
    def statistic_type(self):
        """What is counted."""
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type):
        self._statistic_type = statistic_type

    @property
    def value(self):
        """How many, or None."""
        return self._value

    @value.setter
    def value(self, value):
        self._value = value

    def __iadd__(self, other):
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self._value += other.value
        return self


_statistics = hooks.Hook("statistics")


def _load_statistics():
    """Those that come with the package are entered first."""
    _statistics.get()


class RegisterStatistics:
    """Decorator: makes `f(graph, node)` count a statistic of an op type."""

    def __init__(self, op_type, statistic_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = f"{op_type},{statistic_type}"

    def __call__(self, f):
        _load_statistics()
        statistics_registry.register(f, self._key)
        return f


def get_stats_for_node_def(graph, node, statistic_type):
    """The OpStats of a node; without a value if nothing counts it."""
    _load_statistics()
    try:
        count = statistics_registry.lookup(f"{node.op},{statistic_type}")
    except LookupError:
        return OpStats(statistic_type)
    return count(graph, node)
