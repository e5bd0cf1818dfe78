"""Functions that see each op of a thread: as it runs, or as it is added to a graph."""
import threading
from typing import Callable

from penstock._src.graph import defaults

in_use = 0  # how many there are in all threads: what looks at them costs nothing without


class _Thread(threading.local):
    callbacks: tuple[Callable, ...] = ()
    invoking = False


_thread = _Thread()


def add_op_callback(callback_fn):
    """Lets a function see the ops of this thread.

    It is called as callback_fn(op_type, inputs, attrs, outputs, op_name=None, graph=None) behind each op, or function,
    that ran eagerly (inputs and outputs are tuples of eager tensors, op_type of a function is its name, `attrs` a flat
    tuple of names and values) and behind each that was added to a graph, which has a name and a graph. While it is
    called it does not see ops. Its result is not looked at. ValueError: not callable.
    """
    global in_use
    if callback_fn is None:
        raise ValueError("Passed callback function cannot be None.")
    if not callable(callback_fn):
        raise ValueError("Callback function passed to op_callback() is expected to be callable, but got "
                         f"{callback_fn} of type {type(callback_fn)}.")
    if callback_fn not in _thread.callbacks:
        _thread.callbacks += (callback_fn,)
        in_use += 1
    _tell()


def remove_op_callback(op_callback):
    """Ends it for one function. KeyError: it was not added."""
    global in_use
    if op_callback not in _thread.callbacks:
        raise KeyError("The specified op callback has not been registered, and hence cannot be removed.")
    _thread.callbacks = tuple(c for c in _thread.callbacks if c != op_callback)
    in_use -= 1
    _tell()


def clear_op_callbacks():
    """Ends it for all functions of this thread."""
    for callback in _thread.callbacks:
        remove_op_callback(callback)


def should_invoke_op_callbacks():
    """Whether this thread has such functions, and is in none of them."""
    return bool(_thread.callbacks) and not _thread.invoking


def has_callbacks():
    """Whether this thread has such functions."""
    return bool(_thread.callbacks)


def invoke_op_callbacks(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    """Calls them for an op. ValueError: one returned another number of outputs than the op has."""
    if isinstance(attrs, dict):
        attrs = tuple(x for item in attrs.items() for x in item)
    _thread.invoking = True
    try:
        for callback in _thread.callbacks:
            found = callback(op_type, inputs, attrs, outputs, op_name=op_name, graph=graph)
            if found is not None and len(found) != len(outputs):
                raise ValueError(f"The op callback returned {len(found)} tensors, which does not match the original "
                                 f"number of outputs of op {op_name} ({len(outputs)}).")
    finally:
        _thread.invoking = False


def see_created(operation, attrs=()):
    """Calls them for an operation that was added to a graph."""
    if should_invoke_op_callbacks():
        invoke_op_callbacks(operation.type, tuple(operation.inputs), attrs, tuple(operation.outputs),
                            op_name=operation.name, graph=operation.graph)


def _tell():
    """The runtime's short roads pass Python by, so they are closed meanwhile."""
    defaults.eager_graph()._tell_scopes()
