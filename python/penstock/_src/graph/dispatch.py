"""Which public functions take ragged tensors, linear operators or values of a program's own types too.

What takes a kind of values registers a handler when it is imported: while there is none, there can be no such values.
`api/dispatch_rows.py` says which functions those are.
"""
import functools
import types

from penstock._src.base import hooks
from penstock._src.base import traceback_utils

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

_rows = hooks.Hook("dispatch.rows")
_GENERATED = __name__.rpartition(".")[0] + ".gen"
_version_two = hooks.Hook("dispatch.version_two")
_looking: "dict[Any, Callable]" = {}  # target, function -> what is public
_always: "set[Callable]" = set()  # functions without a row for which a program has registered another
handlers: "dict[Any, Callable]" = {}  # kind of values -> handler(row, function, args, kwargs)
changed = hooks.Callbacks()  # more functions than before look at their arguments

# Searches the functions that a program registered for its types (graph/type_dispatch.py).
by_type: "Optional[Callable]" = None
# Calls the dispatchers of libraries after a function refused its arguments (graph/dispatchers.py).
refused: "Optional[Callable]" = None


def register(kind, handler):
    """Lets `handler(row, function, args, kwargs)` take the calls of functions that have a row for a kind of values. It
    returns NotImplemented if there are no such values among the arguments."""
    handlers[kind] = handler


def handle(target, function, args, /, **kwargs):
    """What `function` gives if there are values among these arguments that are no tensors; NotImplemented if there are
    none, or nothing takes them for `target` ("module:name")."""
    result = NotImplemented
    if by_type is None and not handlers:
        return result
    row = _rows.get().row
    if by_type is not None:
        result = by_type(row("ragged", target), function, args, kwargs)
    for kind, handler in handlers.items():
        if result is NotImplemented and (found := row(kind, target)) is not None:
            result = handler(found, function, args, kwargs)
    return result


def _has_row(target):
    rows = _rows.get()
    return any(rows.row(kind, target) is not None for kind in rows.ROWS)


def dispatched(target, function):
    """The public function behind `target`, for other values too if there is a row for it, and then always the same one;
    the functions that are made from ops' definitions call `handle` themselves."""
    if not isinstance(function, types.FunctionType):
        return function
    if function not in _always and (refused is None or not _is_op(function)):
        if target.startswith("graph.gen:") or not _has_row(target):
            return function
    if (target, function) not in _looking:
        _looking[target, function] = looking(target, function)
    return _looking[target, function]


def look_always(function):
    """Makes a public function without a row look at its arguments, from now on."""
    _always.add(function)
    changed()


def _is_op(value):
    """Whether this is a function of ours that works on tensors and does not take others already."""
    return not hasattr(value, "__wrapped__") and _rows.get().is_op(value)


def undispatched(function):
    """The function that a public one has behind it; others are their own."""
    behind = getattr(function, "__wrapped__", None)
    return behind if any(public is function for public in _looking.values()) else function


def public(target, function):
    """What is public of a function that a program found as `target`, which may be in another module than its row is."""
    home = f"{function.__module__.removeprefix('penstock._src.')}:{function.__name__}"
    return dispatched(target if _has_row(target) else home, function)


def public_of(name):
    """The public function of version 2 of that name."""
    import operator
    return operator.attrgetter(name)(_version_two.get())


def of_borrowed(name, *args):
    """What an operator of Tensor gives for a value of a class that has taken it over: what the public function of that
    name does, which asks the dispatchers of libraries."""
    return public_of(name)(*args)


def looks(function):
    """Whether a function calls `handle` itself."""
    return function.__module__ == _GENERATED


def looking(target, function):
    """A function that takes other values too."""
    import inspect  # not when the package is imported: that would take twice as long

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            if by_type is not None or handlers:
                result = handle(target, function, args, **kwargs)
                if result is not NotImplemented:
                    return result
            return function(*args, **kwargs)
        except Exception as e:
            if refused is not None:
                result = refused(call, args, kwargs, e)
                if result is not NotImplemented:
                    return result
            from penstock._src.base import tf2  # which loads the runtime; this module is there before
            if tf2.enabled():
                raise traceback_utils.filtered(e)
            raise

    # Read by inspect.getfullargspec, which does not look below wrappers.
    setattr(call, "__signature__", inspect.signature(function))
    return call
