"""py_func: Python functions as ops of a graph."""
import threading
import traceback
import weakref

import numpy as np

from penstock import _core
from penstock.framework import errors, gen, ops
from penstock.ops.arguments import made_function

__all__ = ["numpy_function", "py_func"]

__getattr__ = made_function(__name__)

# What a function's exception becomes; UnknownError if it is none of these.
_ERRORS = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


def _as_array(value):
    """A value that a function returned as an array in C order; strings as objects, encoded."""
    result = np.asarray(value, order="C")
    if result.dtype.char == "U":
        flat = [text.encode("utf8") for text in result.ravel()]
        result = np.array(flat + [None], dtype=object)[:-1].reshape(result.shape)
    elif result.dtype.char == "S" and result is not value:
        result = np.asarray(value, order="C", dtype=object)  # keeps zero bytes at the end
    return result


class FuncRegistry:
    """The functions behind the tokens in graphs. It holds none of them: the graph does."""

    def __init__(self):
        self._lock = threading.Lock()
        self._next = 0
        self._functions = weakref.WeakValueDictionary()

    def insert(self, function):
        """A new token for a function."""
        with self._lock:
            token = f"pyfunc_{self._next}"
            self._next += 1
            self._functions[token] = function
        return token

    def remove(self, token):
        """Forgets a function."""
        self._functions.pop(token, None)

    def size(self):
        """The number of functions that are still alive."""
        return len(self._functions)

    def __call__(self, token, device, args):
        """Calls the function behind a token: list of arrays in, list of arrays out. The runtime calls this."""
        del device
        token = token.decode() if isinstance(token, bytes) else token
        function = self._functions.get(token)
        if function is None:
            raise errors.InvalidArgumentError(None, None, f"ValueError: callback {token} is not found")
        try:
            result = function(*[arg[()] if isinstance(arg, np.ndarray) and arg.ndim == 0 else arg for arg in args])
            if result is None:
                return []
            if isinstance(result, (tuple, list)):
                return [_as_array(value) for value in result]
            return [_as_array(result)]
        except errors.OpError:
            raise
        except Exception as e:
            kind = next((kind for types, kind in _ERRORS if isinstance(e, types)), None)
            message = f"{type(e).__name__}: {e}\n{traceback.format_exc()}"
            if kind is None:
                raise errors.UnknownError(None, None, message, errors.UNKNOWN) from e
            raise kind(None, None, message) from e


_py_funcs = FuncRegistry()
_core.set_py_function(_py_funcs)


def _call_as_op(func, inp, Tout, stateful, name):
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    several = isinstance(Tout, (list, tuple))
    token = _py_funcs.insert(func)
    graph = ops.get_default_graph()
    while getattr(graph, "_outer_graph", None) is not None:  # a function's body lives as long as the graph around it
        graph = graph._outer_graph
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(func)
    op = gen.py_func if stateful else gen.py_func_stateless
    result = op(input=inp, token=token, Tout=list(Tout) if several else [Tout], name=name)
    return result if several or isinstance(result, ops.Operation) else result[0]


def _call_at_once(func, inp, Tout):
    result = func(*[np.array(x) for x in inp])
    if result is None:
        return []
    several = isinstance(result, (list, tuple))
    types = Tout if isinstance(Tout, (list, tuple)) else [Tout]
    values = [ops.convert_to_tensor(x, dtype=t) for x, t in zip(result if several else [result], types)]
    return values[0] if len(values) == 1 else values


def py_func(func, inp, Tout, stateful=True, name=None):
    """Calls `func` with the values of `inp` as NumPy arrays whenever the op runs; gives tensors of types `Tout`.

    The function must return arrays of exactly these types. Its exceptions become errors of the run.
    """
    if ops.executing_eagerly():
        return _call_at_once(func, inp, Tout)
    return _call_as_op(func, inp, Tout, stateful, name)


def numpy_function(func, inp, Tout, name=None):
    """`py_func` of a function with state."""
    if ops.executing_eagerly():
        return _call_at_once(func, inp, Tout)
    return _call_as_op(func, inp, Tout, True, name)
