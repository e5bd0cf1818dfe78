"""What a tf.function is called with: arguments in one order, checked against a signature; the key of a trace."""
import functools
import inspect
import re
import weakref
from typing import Any

import numpy as np

from penstock._src.function import trace_type
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph import type_spec
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import nest, tf_inspect


def is_variable(value):
    """Whether it is a variable behind a handle."""
    return hasattr(value, "handle") and not isinstance(value, Tensor) and hasattr(value, "read_value")


def is_input(value):
    """Whether a call passes it to the function's graph."""
    return isinstance(value, Tensor) or is_variable(value)


def _without_partial(function):
    """(the function itself, bound arguments, bound keywords) of a functools.partial."""
    args: tuple = ()
    kwargs: dict = {}
    while isinstance(function, functools.partial):
        args, kwargs, function = function.args + args, {**(function.keywords or {}), **kwargs}, function.func
    return function, args, kwargs


def validate_signature(signature):
    """TypeError unless an input signature is a sequence of specs."""
    if not isinstance(signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(signature)}.")
    wrong = [s for s in nest.flatten(signature, expand_composites=True) if not isinstance(s, type_spec.TypeSpec)]
    if wrong:
        raise TypeError("Invalid input_signature; input_signature must be a possibly nested sequence of TensorSpec "
                        f"objects, got invalid args {wrong} with types {[type(s) for s in wrong]}.")
    if any(s.__class__.__name__ == "VariableSpec" for s in nest.flatten(signature)):
        raise TypeError(f"input_signature doesn't support VariableSpec, got {signature}.")


def _is_method(function):
    """Whether a function, or the tf.function of one, has its first parameter bound."""
    return (inspect.ismethod(function) or getattr(function, "_binds_first_parameter", False) or
            getattr(getattr(function, "function_spec", None), "is_method", False))


def signature_without_first(function):
    """The signature of a method's function as its bound method has it."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD:
        parameters = parameters[1:]
    return signature.replace(parameters=parameters)


class FunctionSpec:
    """The parameters of a Python function, with an input signature or without."""

    @staticmethod
    def from_function_and_signature(python_function, input_signature, is_method=None):
        """Of a function. What functools.partial has bound is no parameter."""
        function, bound, include = _without_partial(python_function)
        if hasattr(getattr(type(function), "__call__", None), "function_spec"):
            function = function.__call__  # an object that is called by a tf.function
        decide = is_method is None
        is_method = _is_method(function) if decide else is_method
        while hasattr(function, "__wrapped__") and not tf_inspect.declares_arguments(function):
            function = function.__wrapped__
            is_method = is_method or decide and _is_method(function)
        try:
            declared = tf_inspect.declares_arguments(function)
            spec = tf_inspect.getfullargspec(function) if declared else inspect.getfullargspec(function)
        except TypeError as e:
            if isinstance(e.__cause__, RecursionError):
                raise e.__cause__ from None  # of a function that calls itself without end
            spec = inspect.getfullargspec(function.__call__)
            is_method = True
        if not inspect.isroutine(function) and not inspect.isclass(function) and inspect.isfunction(
                getattr(type(function), "__call__", None)):
            spec, is_method = inspect.getfullargspec(type(function).__call__), True
        if bound or include:
            first = 1 if is_method else 0
            values = dict(zip(spec.args[len(spec.args) - len(spec.defaults or ()):], spec.defaults or ()))
            rest = spec.args[first + len(bound):]
            # As in Python, what comes behind a parameter that is bound by its name can be given by name only.
            count = next((i for i, name in enumerate(rest) if name in include), len(rest))
            named = [name for name in rest[count:] if name not in include]
            kept = spec.args[:first] + rest[:count]
            only = {**(spec.kwonlydefaults or {}), **{name: values[name] for name in named if name in values}}
            spec = spec._replace(
                args=kept, defaults=tuple(values[a] for a in kept if a in values),
                kwonlyargs=named + [name for name in spec.kwonlyargs if name not in include],
                kwonlydefaults={name: value for name, value in only.items() if name not in include} or None)
        return FunctionSpec(spec, is_method, input_signature, frozenset(include))

    def __init__(self, fullargspec, is_method, input_signature, bound=frozenset()):
        self._fullargspec = fullargspec
        self._is_method = is_method
        self._bound = bound
        self.only_tensors = False  # whether all arguments become tensors
        self._keyword_defaults = {name: value for name, value in (fullargspec.kwonlydefaults or {}).items()
                                  if name not in bound}
        args = fullargspec.args[1:] if is_method else fullargspec.args
        self.arg_names = args
        self.vararg_name = fullargspec.varargs
        self._positions = {name: i for i, name in enumerate(args)}
        values = fullargspec.defaults or ()
        self._default_values = {len(args) - len(values) + i: v for i, v in enumerate(values)}
        self._input_signature: Any = None
        self._flat_input_signature: Any = None
        if input_signature is None and tf2.enabled() and not (
                args or fullargspec.varargs or fullargspec.kwonlyargs or fullargspec.varkw):
            input_signature = ()  # nothing is left open: a model that is saved has its trace
        if input_signature is not None:
            validate_signature(input_signature)
            self._input_signature = self._with_tensor_defaults(tuple(input_signature))
            self._flat_input_signature = tuple(nest.flatten(self._input_signature, expand_composites=True))
            self._check_constraints()

    def _with_tensor_defaults(self, signature):
        """The signature with those arguments behind it whose defaults are tensors: in version 2 they are inputs too."""
        at = len(signature) + (self.arg_names[:1] in (["self"], ["cls"]))
        while tf2.enabled() and at < len(self.arg_names) and isinstance(self._default_values.get(at), Tensor):
            default = self._default_values[at]
            signature += (TensorSpec(default.shape, default.dtype, self.arg_names[at]),)
            at += 1
        return signature

    def _check_constraints(self):
        """TypeError: the signature is not one of this function's parameters."""
        full, count = self._fullargspec, len(self._input_signature)
        for name in full.kwonlyargs:
            if name not in (full.kwonlydefaults or {}):
                lacking = f"Since input_signature is defined, keyword-only parameter `{name}` must have a default value"
                if tf2.enabled():
                    raise TypeError(lacking)
                raise SignatureMismatch(f"{lacking}: Cannot define a TensorFlow function from a Python function with "
                                        "keyword-only arguments when input_signature is provided.")
        first = 1 if self.arg_names[:1] in (["self"], ["cls"]) else 0  # a method that is not bound yet
        if count > len(self.arg_names) - first and full.varargs is None:
            extra = count + first - len(self.arg_names)
            raise TypeError(f"input_signature contains {extra} extra type constraints.")
        for i, name in enumerate(self.arg_names):
            if i >= count + first and i not in self._default_values:
                raise TypeError(f"input_signature missing type constraint for {name}")

    fullargspec = property(lambda self: self._fullargspec)
    is_method = property(lambda self: self._is_method)
    input_signature = property(lambda self: self._input_signature)
    flat_input_signature = property(lambda self: self._flat_input_signature)

    def canonicalize_function_inputs(self, *args, **kwargs):
        """(positional arguments, keyword arguments) in one form, defaults filled in, NumPy arrays as tensors.

        TypeError: they do not fit the function. SignatureMismatch: they do not fit its signature.
        """
        try:
            return self._canonical(args, dict(kwargs))
        except (TypeError, ValueError) as e:
            from penstock._src.function import function_binding
            signature = function_binding.signature_of_function(self)
            reason = function_binding.fault(signature, args, kwargs)
            if reason is None:
                raise
            message, kind = function_binding.text(reason, signature, args, kwargs), TypeError
            if self._input_signature is not None and not tf2.enabled():
                message, kind = f"{message}\n{e}", SignatureMismatch
            raise kind(message) from None

    def _canonical(self, args, kwargs):
        signature = self._input_signature
        if signature is not None:
            if tf2.enabled():
                args, kwargs = self._without_defaults(args, kwargs)
            if len(args) > len(signature):
                raise TypeError("When input_signature is provided, only pass arguments covered by it. Received "
                                f"{len(args)} argument(s).")
            for name in kwargs:
                place = self._positions.get(name)
                if place is None:
                    raise TypeError(f"Function got an unexpected keyword argument {name}")
                if place >= len(signature):
                    raise TypeError("When input_signature is provided, only pass arguments covered by it. Received "
                                    f"argument {name}.")
        if self._fullargspec.varargs is None and len(args) > len(self.arg_names):
            raise TypeError(f"too many positional arguments: {len(args)} were given, but the function takes "
                            f"{len(self.arg_names)}")
        missing = {i: v for i, v in self._default_values.items() if i >= len(args)}
        for name in list(kwargs):
            place = self._positions.get(name)
            if place is None:
                if self._fullargspec.varkw is None and name not in self._fullargspec.kwonlyargs \
                        and name not in self._bound:
                    raise TypeError(f"got an unexpected keyword argument '{name}'")
                continue
            if place < len(args):
                raise TypeError(f"multiple values for argument '{name}'")
            missing[place] = kwargs.pop(name)
        rest = tuple(missing[i] for i in sorted(missing))
        if sorted(missing) != list(range(len(args), len(args) + len(rest))):
            absent = [n for i, n in enumerate(self.arg_names) if i >= len(args) and i not in missing]
            raise TypeError(f"missing a required argument: {absent[0]!r}")
        if signature is None and len(args) + len(rest) < len(self.arg_names):
            raise TypeError(f"missing a required argument: {self.arg_names[len(args) + len(rest)]!r}")
        args = args + rest
        if signature is None:
            for name in self._fullargspec.kwonlyargs:
                if name not in kwargs and name not in self._bound and name not in (
                        self._fullargspec.kwonlydefaults or ()):
                    raise TypeError(f"missing a required argument: {name!r}")
            for name, value in self._keyword_defaults.items():
                kwargs.setdefault(name, value)
            if self.only_tensors:
                return tuple(map(_as_tensor, args)), {name: _as_tensor(x) for name, x in kwargs.items()}
            return convert_arrays(args), convert_arrays(kwargs) if kwargs else kwargs
        return self._fit(args), dict(self._keyword_defaults) if tf2.enabled() else {}

    def _without_defaults(self, args, kwargs):
        """The arguments of a call without those behind the signature that are the defaults, as they may be."""
        count, only = len(self._input_signature), self._fullargspec.kwonlydefaults or {}

        def is_default(place, value):
            return place in self._default_values and _same(self._default_values[place], value)

        while len(args) > count and is_default(len(args) - 1, args[-1]):
            args = args[:-1]
        kept = {}
        for name, value in kwargs.items():
            place = self._positions.get(name, -1)
            if not (is_default(place, value) if place >= count else name in only and _same(only[name], value)):
                kept[name] = value
        return args, kept

    def with_defaults(self, args, kwargs):
        """What a trace for the input signature takes, with the defaults of the arguments behind it."""
        if self._input_signature is None or self._fullargspec.varargs is not None:
            return args, kwargs
        rest = [self._default_values[i] for i in range(len(args), len(self.arg_names)) if i in self._default_values]
        only = self._keyword_defaults
        if len(args) + len(rest) < len(self.arg_names) or any(map(is_input, [*rest, *only.values()])):
            return args, kwargs
        return (*args, *rest), {**only, **kwargs}

    def _fit(self, args):
        """The arguments as tensors of the signature."""
        signature = self._input_signature
        flat_specs = tuple(p for s in nest.flatten(signature) for p in _spec_parts(s))
        try:
            flat = nest.flatten_up_to(_plain(signature), args[:len(signature)])
            flat = [p for s, v in zip(nest.flatten(signature), flat) for p in _parts(s, v)]
        except (ValueError, TypeError):
            raise SignatureMismatch("Structure of Python function inputs does not match input_signature.") from None
        for i, (value, spec) in enumerate(zip(flat, flat_specs)):
            if isinstance(value, (Tensor, type_spec.TypeSpec)):
                continue
            try:
                flat[i] = conversion.convert_to_tensor(value, dtype_hint=spec.dtype)
            except (ValueError, TypeError):
                raise SignatureMismatch("When input_signature is provided, all inputs to the Python function must be "
                                        "convertible to tensors.") from None
        if any(not s.is_compatible_with(v) for s, v in zip(flat_specs, flat)):
            raise SignatureMismatch("Python inputs incompatible with input_signature.")
        leaves, at = [], 0
        for s in nest.flatten(signature):
            if type_spec.is_composite_spec(s):
                count = len(_spec_parts(s))
                own = flat[at:at + count]
                if any(isinstance(v, TensorSpec) for v in own):
                    leaves.append(s)
                else:
                    parts = nest.pack_sequence_as(s._component_specs, own, expand_composites=True)
                    leaves.append(s._from_components(parts))
                at += count
            else:
                leaves.append(flat[at])
                at += 1
        fitted = nest.pack_sequence_as(signature, leaves)
        return tuple(fitted) + tuple(args[len(signature):])


def _same(a, b):
    if a is b:
        return True
    plain = (bool, int, float, complex, str, bytes, tuple, list, dict)
    return isinstance(a, plain) and isinstance(b, plain) and not any(map(is_input, nest.flatten((a, b)))) and a == b


def _plain(signature):
    return nest.map_structure(lambda s: s, signature)


def _spec_parts(spec):
    """The specs of the tensors that a spec describes."""
    return nest.flatten(spec, expand_composites=True)


def components(spec, value):
    """What a value consists of that a composite spec describes. ValueError, AttributeError: it is another value."""
    found = spec._to_components(value)
    nest.assert_same_structure(spec._component_specs, found, check_types=False, expand_composites=True)
    return found


def _parts(spec, value):
    """The tensors of a value that a spec describes. ValueError: it is none."""
    if value is None:
        raise ValueError(f"None is of another kind than {spec}")
    if not type_spec.is_composite_spec(spec):
        return [value]
    if type_spec.is_composite_spec(value):
        return _spec_parts(value)
    try:
        parts = nest.flatten(components(spec, value), expand_composites=True)
    except AttributeError as e:
        raise ValueError(str(e)) from None
    if [(s.dtype, s.shape.rank) for s in _spec_parts(spec)] != [(p.dtype, p.shape.rank) for p in parts]:
        raise ValueError(f"{value} is of another kind than {spec}")
    return parts


def _as_tensor(x):
    return x if isinstance(x, (Tensor, type_spec.TypeSpec)) else conversion.convert_to_tensor(x)


def convert_arrays(structure):
    """Arrays in a structure as tensors."""
    flat = nest.flatten(structure)
    if not any(isinstance(x, (np.ndarray, np.generic)) or _like_array(x) for x in flat):
        return structure
    flat = [conversion.convert_to_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else
            conversion.convert_to_tensor(x.__array__()) if _like_array(x) else x for x in flat]
    return nest.pack_sequence_as(structure, flat)


def _like_array(x):
    return hasattr(x, "__array__") and not is_input(x) and not isinstance(x, type) and not nest.is_sequence(x) \
        and not getattr(x, "_is_composite_tensor", False) and not hasattr(x, "_should_act_as_resource_variable")


class SignatureMismatch(TypeError, ValueError):
    """Arguments that an input signature does not describe: 2.21 raises TypeError, 1.15 ValueError."""


def check_names(names):
    """ValueError: two parameters would have one name, as all but letters and digits become underscores."""
    plain = {re.sub("[^a-zA-Z0-9_]", "_", name) for name in names}
    if len(plain) < len(set(names)):
        raise ValueError("Name collision after sanitization. Please rename tf.function input parameters. "
                         f"Original: {sorted(set(names))}, Sanitized: {sorted(plain)}")


class UnhashableArgument(TypeError, AttributeError):
    """No trace can be found by an argument: 2.21 raises TypeError, 1.15 AttributeError."""


SHAPES, RANKS, NOTHING = range(3)  # what encode takes of shapes


def encode(value, known=SHAPES, aliases=None):
    """What tells one kind of argument from another: type and shape of tensors, structure, Python values."""
    if isinstance(value, Tensor):
        shape = value._dims if value._is_eager else value._shape_tuple()
        return "T", value._dtype._base, shape if known is SHAPES else _known_of(shape, known)
    kind = type(value)
    if value is None or kind in (int, float, bool, str, bytes, complex):
        return "P", value  # 1 and 1.0 are one trace, as equal values are
    if kind is TensorSpec:
        shape = value._shape_tuple
        key = "T", value.dtype._base, _known_of(shape, known)
        return key if value.name is None or known is NOTHING else (*key, value.name)
    own = trace_type.of(value)
    if own is not None:
        return "Y", type(own) if known is NOTHING else own
    kind = getattr(kind, "_plain_kind", kind)  # lists and dicts of a module are as others
    if isinstance(value, (list, tuple)):
        return (kind, *[encode(v, known, aliases) for v in value])
    if isinstance(value, dict):
        return (kind, *[(k, encode(value[k], known, aliases)) for k in nest._sorted(value)])
    if is_variable(value):
        place = aliases.setdefault(id(value), len(aliases)) if aliases is not None else 0
        return "V", value.dtype._base, value._shape_tuple(), getattr(value, "trainable", True), place
    if getattr(value, "_is_composite_tensor", False) and value._type_spec._is_opaque:
        return "S", type(value._type_spec) if known is NOTHING else value._type_spec
    if type_spec.is_composite_spec(value):
        if value._is_opaque:
            return "S", type(value) if known is NOTHING else value
        return "S", _static(value, known), \
            *[encode(s, known) for s in nest.flatten(value, expand_composites=True)]
    if getattr(value, "_is_composite_tensor", False):
        return "S", _static(type_spec.type_spec_from_value(value), known), \
            *[encode(c, known) for c in nest.flatten(value, expand_composites=True)]
    if nest._is_dataclass(value):
        return kind, encode(value.__tf_flatten__()[0], known, aliases), \
            *[encode(v, known, aliases) for v in nest._values(value)]
    if nest.is_sequence(value):
        return (kind, *[encode(v, known, aliases) for v in nest._values(value)])
    if isinstance(value, weakref.ref) and tf2.enabled():
        raise TypeError(f"weakref input {value} not supported for tf.function.")
    try:
        hash(value)
    except TypeError:
        refusal = TypeError if tf2.enabled() else UnhashableArgument
        raise refusal(f"Could not generate a generic TraceType for {value!r}. Please verify that it is "
                      "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it.") from None
    try:
        return weakref.ref(value)
    except TypeError:
        return kind, value


def _known_of(shape, known):
    """What is taken of a shape: all, its rank, nothing."""
    if shape is None or known is NOTHING:
        return None
    return len(shape) if known is RANKS else tuple(shape)


def _static(value, known):
    """What tells one spec from another beside its tensors, which are encoded themselves: the fields of an extension
    type that are no tensors, a ragged rank..."""
    if isinstance(value, TensorSpec):
        return None
    if type_spec.is_composite_spec(value):
        return type(value), _static(value._serialize(), known)
    if isinstance(value, tensor_shape.TensorShape):
        return _known_of(value._values, known)
    if isinstance(value, (list, tuple)):
        return (type(value), *[_static(v, known) for v in value])
    if isinstance(value, dict):
        return (type(value), *[(k, _static(v, known)) for k, v in value.items()])
    return type_spec._key(value)


class CacheKey:
    """A trace's key; parts that are the same for all calls in one place are compared first."""

    __slots__ = ("parts", "_hash")

    def __init__(self, arguments, place):
        self.parts = (place, arguments)
        self._hash = hash(self.parts)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self.parts == other.parts


def place_of_call():
    """What of the surroundings a trace depends on: the graph that is built, devices, the colocation stack."""
    graph = defaults.get_default_graph()
    devices = graph._device_function_stack
    names = tuple(entry.name or entry.function for entry in devices) if devices else ()
    outside = graph if graph._eager else defaults.outside_functions()
    if outside._eager:
        return (None, names)
    return (weakref.ref(outside), names, tuple(entry.obj.name for entry in graph._colocation_stack))
