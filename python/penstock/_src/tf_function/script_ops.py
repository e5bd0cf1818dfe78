"""py_func: Python functions as ops of a graph."""
import functools
import threading
import traceback
import weakref

import numpy as np

from penstock import _core
from penstock._src.graph import dtypes, errors, gen, ops, type_spec
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import nest

__all__ = ["eager_py_func", "numpy_function", "numpy_function_v1", "py_func", "py_function"]


# What a function's exception becomes; UnknownError if it is none of these.
_ERRORS = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


def _as_op_error(e):
    """What a function's exception becomes as the error of an operation."""
    kind = next((kind for types, kind in _ERRORS if isinstance(e, types)), None)
    message = f"{type(e).__name__}: {e}\n{traceback.format_exc()}"
    return errors.UnknownError(None, None, message, errors.UNKNOWN) if kind is None else kind(None, None, message)


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
            values = result if isinstance(result, (tuple, list)) else [result]
            return [value if isinstance(value, _core.Tensor) else as_array(value) for value in values]
        except errors.OpError:
            raise
        except Exception as e:
            raise _as_op_error(e) from e


_py_funcs = FuncRegistry()
_core.set_py_function(_py_funcs)


def _call_as_op(func, inp, Tout, build, name):
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


def _check_callable(func):
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")


def _call_at_once(func, inp):
    """The results as tensors of whatever type they have, alone if there is one."""
    result = nest.flatten(func(*[np.array(x) for x in inp]))
    values = [None if x is None else ops.convert_to_tensor(x) for x in result]
    return values[0] if len(values) == 1 else values


def py_func(func, inp, Tout, stateful=True, name=None):
    """Calls `func` with the values of `inp` as NumPy arrays whenever the op runs; gives tensors of types `Tout`.

    The function must return arrays of exactly these types. Its exceptions become errors of the run.
    """
    _check_callable(func)
    if ops.executing_eagerly():
        return _call_at_once(func, inp)
    return _call_as_op(func, inp, Tout, gen.py_func if stateful else gen.py_func_stateless, name)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """`py_func`; without a function, a decorator for one."""
    decorator = _as_decorator(numpy_function, func, inp, Tout, stateful=stateful, name=name)
    if decorator is not None:
        return decorator
    return py_func(func, inp, Tout, stateful=stateful, name=name)


def numpy_function_v1(func, inp, Tout, name=None):
    """`py_func` of a function that may have state."""
    return py_func(func, inp, Tout, name=name)


class _EagerFunction:
    """A function of tensors, and of what is made of them, as one of arrays, and its gradient as another.

    given: its arguments, with specs for those made of several tensors. wanted: types or specs of its results.
    """

    def __init__(self, func, given, wanted):
        self._func, self._given, self._wanted = func, given, wanted
        self._specs = [spec for want in wanted for spec in _tensor_specs(want)]
        self._differentiated = False
        self._last = None  # the last call's arrays and what was recorded of it, for its gradient

    def _results(self, args):
        args = nest.pack_sequence_as(self._given, args, expand_composites=True)
        result = self._func(*args)
        values = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
        if len(values) != len(self._wanted):
            raise errors.InvalidArgumentError(None, None, f"py_function: func={self._func} returned {len(values)} "
                                                          f"values, but expects to see {len(self._wanted)} values.")
        flat = []
        for value, want in zip(values, self._wanted):
            if hasattr(value, "handle") and not isinstance(value, ops.Tensor):
                raise RuntimeError("Attempting to return a variable from an eagerly executed py_func. Only numeric "
                                   "data structures like Tensors or NumPy arrays should be returned; to return the "
                                   f"value of a variable, call its `read_value()`: {value}")
            of_parts = isinstance(want, type_spec.TypeSpec) and not isinstance(want, TensorSpec)
            if of_parts or _is_composite(value):
                found = type_spec.type_spec_from_value(value)
                if not of_parts or not want.is_compatible_with(value):
                    raise ValueError(f"py_function: func={self._func} returned {values!r}, which did not match "
                                     f"Tout={self._wanted!r}.\nIn particular, {found} is not compatible with {want}.")
            flat += nest.flatten(value, expand_composites=True) if of_parts else [value]
        return [ops.convert_to_tensor(value, dtype=spec.dtype) for value, spec in zip(flat, self._specs)]

    def call_at_once(self, args):
        """The results of eager arguments, in a list. Its exceptions are those of an operation."""
        try:
            flat = self._results([ops.convert_to_tensor(x) for x in args])
        except errors.OpError:
            raise
        except Exception as e:
            raise _as_op_error(e) from e
        return self._packed(flat)

    def call_as_op(self, args, name):
        """The results in a graph, in a list; the operation if there are none."""
        flat = _call_as_op(self, args, [spec.dtype for spec in self._specs], gen.eager_py_func, name)
        if not isinstance(flat, list):
            return flat
        for value, spec in zip(flat, self._specs):
            value.set_shape(spec.shape)
        return self._packed(flat)

    def _packed(self, flat):
        return nest.pack_sequence_as(self._wanted, flat, expand_composites=True)

    def __call__(self, *arrays):
        from penstock._src.graph import context
        with context.eager_mode():
            if self._differentiated:
                recorded = _, _, results = self._record(arrays)
                self._last = arrays, recorded
            else:
                results = self._results([_tensor_of(a) for a in arrays])
            return [_array_of(value) for value in results]

    def _record(self, arrays):
        """Calls it: the tape, the arguments that it watched, the results."""
        from penstock._src.gradient import backprop
        args = [_tensor_of(a) for a in arrays]
        sources = [a for a in args if a.dtype.is_floating or a.dtype.is_complex]
        with backprop.GradientTape() as tape:
            tape.watch(sources)
            return tape, sources, self._results(args)

    def gradient(self, count):
        """The function from the arguments and what flows into the results to the gradients of the arguments.

        It differentiates what was recorded of the call; if that was not the last one, as in loops, it calls again.
        """
        self._differentiated = True

        def run(*arrays):
            from penstock._src.graph import context
            last, self._last = self._last, None
            with context.eager_mode():
                if last is not None and all(map(_same, last[0], arrays)):
                    tape, sources, results = last[1]
                else:
                    tape, sources, results = self._record(arrays[:count])
                pairs = [(y, ops.convert_to_tensor(dy)) for y, dy in zip(results, arrays[count:])
                         if y.dtype.is_floating or y.dtype.is_complex]
                grads = tape.gradient([y for y, _ in pairs], sources, [dy for _, dy in pairs])
                return [np.zeros(x.shape.as_list(), x.dtype.as_numpy_dtype) if g is None else
                        ops.convert_to_tensor(g).numpy() for x, g in zip(sources, grads)]
        return run


def _same(a, b):
    """Whether two arguments of a function have the same value; what a handle refers to is not looked at."""
    if isinstance(a, _core.Tensor) or isinstance(b, _core.Tensor):
        return type(a) is type(b)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return np.array_equal(a, b) if a.dtype == object else a.tobytes() == b.tobytes()


def _tensor_of(array):
    """An argument as an eager tensor; resources and variants come as the runtime has them."""
    return _core.eager_from_core(array) if isinstance(array, _core.Tensor) else ops.convert_to_tensor(array)


def _array_of(tensor):
    """A result as the runtime takes it: an array, or the tensor itself of a resource or variant."""
    handle = tensor.dtype in (dtypes.resource, dtypes.variant)
    return _core.eager_to_core(tensor) if handle else tensor.numpy()


@ops.RegisterGradient("EagerPyFunc")
def _py_function_gradient(op, *dys):
    function = _py_funcs._functions[op.get_attr("token").decode()]
    inputs = list(op.inputs)
    places = [i for i, x in enumerate(inputs) if x.dtype.is_floating or x.dtype.is_complex]
    found = [None] * len(inputs)
    dys = [gen.zeros_like(y) if dy is None else dy for y, dy in zip(op.outputs, dys)]
    if places:
        made = _call_as_op(function.gradient(len(inputs)), inputs + list(dys), [inputs[i].dtype for i in places],
                           gen.eager_py_func, None)
        for i, gradient in zip(places, made):
            gradient.set_shape(inputs[i].shape)
            found[i] = gradient
    return found


def _tensor_specs(wanted):
    """The specs of the tensors that a result, of a type or as a spec says, is made of."""
    if isinstance(wanted, type_spec.TypeSpec):
        return nest.flatten(wanted, expand_composites=True)
    return [TensorSpec(None, wanted)]


def _as_decorator(function, func, inp, Tout, **options):
    """What decorates a Python function so that `function` is called with its arguments, or None if there is `func`."""
    name = f"tf.{function.__name__}"
    if Tout is None:
        raise TypeError(f"Missing required argument: 'Tout'\n  If using {name} as a decorator, set `Tout`\n"
                        f"  **by name** above the function:\n  `@{name}(Tout=tout)`")
    if func is not None:
        if inp is None:
            raise TypeError("Missing argument `inp`:\n  You must set the `inp` argument (the list of arguments to the\n"
                            f"  function), unless you use `{name}` as a decorator(`func=None`).")
        return None
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using {name} as a decorator (`func=None`).")

    def decorate(func):
        @functools.wraps(func)
        def call(*args):
            return function(func, inp=args, Tout=Tout, **options)
        return call
    return decorate


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls `func` with the values of `inp` as eager tensors whenever the op runs; gives tensors of types `Tout`.

    Ragged and sparse tensors may be among the arguments, and among the results where `Tout` has their TypeSpec.
    Gradients flow through it, through what it computed; in a loop it runs once more for them. ValueError: func is not
    callable. What the function raises becomes an error of the operation: InvalidArgumentError, UnknownError, ...
    Without `func` and `inp` it decorates functions. TypeError if only one of them is missing, or Tout.
    """
    decorator = _as_decorator(py_function, func, inp, Tout, name=name)
    if decorator is not None:
        return decorator
    _check_callable(func)
    several = isinstance(Tout, (list, tuple))
    given = nest.map_structure(lambda x: type_spec.type_spec_from_value(x) if _is_composite(x) else None, list(inp))
    function = _EagerFunction(func, given, list(Tout) if several else [Tout])
    args = nest.flatten(list(inp), expand_composites=True)
    results = function.call_at_once(args) if ops.executing_eagerly() else function.call_as_op(args, name)
    return results if several or isinstance(results, ops.Operation) else results[0]


def _is_composite(value):
    return isinstance(value, CompositeTensor) and not isinstance(value, ops.Tensor) and not hasattr(value, "handle")


eager_py_func = py_function
