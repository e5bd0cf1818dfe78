"""py_func: Python functions as ops of a graph."""
import functools
import threading
import traceback
import weakref

import numpy as np

from penstock import _core
from penstock.framework import errors, gen, ops
from penstock.ops.arguments import made_function

__all__ = ["eager_py_func", "numpy_function", "py_func", "py_function"]

__getattr__ = made_function(__name__)

# What a function's exception becomes; UnknownError if it is none of these.
_ERRORS = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


def as_array(value, dtype=None):
    """A value that a function returned as an array in C order, of type `dtype` if given; strings as encoded objects."""
    result = np.asarray(value, dtype=None if dtype is object else dtype, order="C")
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
                return [as_array(value) for value in result]
            return [as_array(result)]
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


def _call_as_op(func, inp, Tout, build, name):
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    several = isinstance(Tout, (list, tuple))
    try:
        weakref.ref(func)
    except TypeError:  # NumPy's own functions, for instance
        func = functools.partial(func)
    token = _py_funcs.insert(func)
    graph = ops.get_default_graph()
    outer = getattr(graph, "_outer_graph", None)
    while outer is not None and not outer._eager:  # a function's body lives as long as the graph around it
        graph, outer = outer, getattr(outer, "_outer_graph", None)
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(func)
    result = build(input=inp, token=token, Tout=list(Tout) if several else [Tout], name=name)
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
    return _call_as_op(func, inp, Tout, gen.py_func if stateful else gen.py_func_stateless, name)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """`py_func`; without a function, a decorator for one."""
    if func is None:
        return lambda decorated: functools.wraps(decorated)(
            lambda *args: py_func(decorated, args, Tout, stateful=stateful, name=name))
    return py_func(func, inp, Tout, stateful=stateful, name=name)


class _EagerFunction:
    """A function of tensors as one of arrays, and its gradient as another."""

    def __init__(self, func, types):
        self._func, self._types = func, types

    def _results(self, args):
        result = self._func(*args)
        flat = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
        if len(flat) != len(self._types):
            raise ValueError(f"the function returned {len(flat)} values, but {len(self._types)} are expected")
        return [ops.convert_to_tensor(value, dtype=dtype) for value, dtype in zip(flat, self._types)]

    def __call__(self, *arrays):
        from penstock.eager import context
        with context.eager_mode():
            return [value.numpy() for value in self._results([ops.convert_to_tensor(a) for a in arrays])]

    def gradient(self, count):
        """The function from the arguments and what flows into the results to the gradients of the arguments."""
        def run(*arrays):
            from penstock.eager import backprop, context
            with context.eager_mode():
                args = [ops.convert_to_tensor(a) for a in arrays[:count]]
                sources = [a for a in args if a.dtype.is_floating or a.dtype.is_complex]
                with backprop.GradientTape() as tape:
                    tape.watch(sources)
                    results = self._results(args)
                pairs = [(y, ops.convert_to_tensor(dy)) for y, dy in zip(results, arrays[count:])
                         if y.dtype.is_floating or y.dtype.is_complex]
                grads = tape.gradient([y for y, _ in pairs], sources, [dy for _, dy in pairs])
                return [np.zeros(x.shape.as_list(), x.dtype.as_numpy_dtype) if g is None else
                        ops.convert_to_tensor(g).numpy() for x, g in zip(sources, grads)]
        return run


@ops.RegisterGradient("EagerPyFunc")
def _py_function_gradient(op, *dys):
    function = _py_funcs._functions[op.get_attr("token").decode()]
    inputs = list(op.inputs)
    places = [i for i, x in enumerate(inputs) if x.dtype.is_floating or x.dtype.is_complex]
    found = [None] * len(inputs)
    if places:
        made = _call_as_op(function.gradient(len(inputs)), inputs + list(dys), [inputs[i].dtype for i in places],
                           gen.eager_py_func, None)
        for i, gradient in zip(places, made):
            gradient.set_shape(inputs[i].shape)
            found[i] = gradient
    return found


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls `func` with the values of `inp` as eager tensors whenever the op runs; gives tensors of types `Tout`.

    Gradients flow through it: for them the function runs once more.
    """
    several = isinstance(Tout, (list, tuple))
    types = list(Tout) if several else [Tout]
    function = _EagerFunction(func, types)
    if ops.executing_eagerly():
        results = function._results([ops.convert_to_tensor(x) for x in inp])
        return results if several else results[0]
    return _call_as_op(function, inp, Tout, gen.eager_py_func, name)


eager_py_func = py_function
