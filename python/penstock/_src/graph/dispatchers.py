"""tensorflow.python.util.dispatch: how libraries take over calls of public functions with values of theirs.

A dispatcher is asked where a function refuses its arguments (TypeError, ValueError): first those of this function in
the order in which they came, then those of all functions. Symbolic values of legacy Keras live on that. As long as
there is none, public functions stay as they are. Types of a program's own have tf.experimental.dispatch_for_api.
"""
import functools
from typing import Callable

from penstock._src.graph import dispatch as public_functions
from penstock._src.base import tf_inspect

_GLOBAL_DISPATCHERS: list = []
_dispatchers: dict[Callable, list] = {}  # function -> those of this function


class OpDispatcher:
    """What handles the calls of one function with values of a library."""

    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op):
        """Has the dispatcher asked where a public function refuses its arguments."""
        _dispatchers.setdefault(_behind(op), []).append(self)
        _look()


class GlobalOpDispatcher:
    """What handles the calls of any function with values of a library."""

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op, args, kwargs):
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self):
        """Has the dispatcher asked where any public function refuses its arguments."""
        _GLOBAL_DISPATCHERS.append(self)
        _look()


class _OfTypes(OpDispatcher):
    """What handles calls with values of some types, in lists too."""

    def __init__(self, function, handled):
        self._function, self._handled = function, handled

    def _is_handled(self, value):
        if isinstance(value, (list, tuple)):
            return any(map(self._is_handled, value))
        return isinstance(value, self._handled)

    def handle(self, args, kwargs):
        if any(map(self._is_handled, (*args, *kwargs.values()))):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op, *types):
    """Decorator of a function for the calls of `op` with values of these types that `op` itself refuses.

    AssertionError: its parameters without defaults are not those of `op`; a call gives one that the function lacks.
    """
    def decorator(function):
        _OfTypes(_fitting(function, op), types).register(op)
        return function

    return decorator


def _fitting(function, op):
    """The function, for the arguments of `op`."""
    theirs, own = tf_inspect.signature(op), tf_inspect.signature(function)
    needed = [[(p.name, p.kind) for p in each.parameters.values() if p.default is p.empty] for each in (theirs, own)]
    if needed[0] != needed[1]:
        raise AssertionError("The decorated function's non-default arguments must be identical to that of the "
                             "overridden op.")
    dropped = {name: p.default for name, p in theirs.parameters.items() if name not in own.parameters}
    if not dropped:
        return function

    def call(*args, **kwargs):
        bound = theirs.bind(*args, **kwargs)
        for name, default in dropped.items():
            if bound.arguments.pop(name, default) is not default:
                raise AssertionError(f"Dispatched op is called with argument `{name}` set to a non-default value, "
                                     "which is not supported by the decorated function")
        return function(*bound.args, **bound.kwargs)

    return call


def dispatch(op, args, kwargs):
    """What the first dispatcher that handles a call gives; OpDispatcher.NOT_SUPPORTED if none does."""
    for dispatcher in _dispatchers.get(_behind(op), ()):
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    for dispatcher in _GLOBAL_DISPATCHERS:
        result = dispatcher.handle(op, args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


def add_dispatch_support(target=None, iterable_parameters=None):
    """Decorator of a library's own function: dispatchers are asked where it refuses its arguments.

    iterable_parameters: names of those that may be iterators; they are made lists, as they may be read twice.
    """
    def decorator(function):
        names = list(tf_inspect.signature(function).parameters) if iterable_parameters else ()

        @functools.wraps(function)
        def call(*args, **kwargs):
            for name in iterable_parameters or ():
                place = names.index(name)
                if place < len(args):
                    args = (*args[:place], list(args[place]), *args[place + 1:])
                elif name in kwargs:
                    kwargs[name] = list(kwargs[name])
            try:
                return function(*args, **kwargs)
            except Exception as e:
                result = _refused(call, args, kwargs, e)
                if result is NotImplemented:
                    raise
                return result

        setattr(call, "__signature__", tf_inspect.signature(function))
        return call

    return decorator if target is None else decorator(target)


def _refused(op, args, kwargs, error):
    """What dispatchers give for a call that failed; NotImplemented if they give nothing."""
    if not isinstance(error, (TypeError, ValueError, AttributeError)):
        return NotImplemented
    result = dispatch(op, args, kwargs)
    return NotImplemented if result is OpDispatcher.NOT_SUPPORTED else result


def _behind(function):
    return getattr(function, "__wrapped__", function)


def _look():
    """Makes public functions ask: those that have been used already and those that will be."""
    if public_functions.refused is None:
        public_functions.refused = _refused
        public_functions.changed()
