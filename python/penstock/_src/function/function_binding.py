"""Why arguments do not fit a tf.function or one of its traces, in the words of TensorFlow 2.21."""
import inspect
from typing import Any

from penstock._src.function import function_spec
from penstock._src.function import function_text
from penstock._src.graph import conversion
from penstock._src.graph import type_spec
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import nest


class _Captured:
    def __repr__(self):
        return "<captured_default_value>"


class FlatMismatch(function_spec.SignatureMismatch):
    """Flat arguments that a trace does not take. `reason` says why as 2.21 does, the message as 1.15 does."""

    def __init__(self, reason, message, colon=""):
        super().__init__(message)
        self.reason = f"{colon} {reason}"


def no_tensor(concrete, i, arg):
    """The FlatMismatch of a flat argument that is no tensor."""
    return FlatMismatch(
        f"expected argument #{i}(zero-based) to be a Tensor; got {type(arg).__name__} ({arg}).",
        f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of {concrete._name}, the {i}-th input "
        f"({arg}) was not a Tensor.", ":")


def check_flat(concrete, flat, args, kwargs):
    """FlatMismatch: flat arguments that are no tensors, and are not the Python function's either, as numbers may be."""
    for i, arg in enumerate(flat):
        if not function_spec.is_input(arg):
            if fault(function_text.signature(concrete), args, kwargs) is not None:
                raise no_tensor(concrete, i, arg)
            return


def error_of_trace(concrete, args, kwargs, flat):
    """The exception of a call of a ConcreteFunction with arguments that are neither those of the Python function nor,
    as a FlatMismatch says, the flat ones."""
    signature = function_text.signature(concrete)
    reason = fault(signature, args, kwargs)
    if reason is None:
        return flat
    names = f"{concrete._name}({', '.join(concrete._arg_keywords)})"
    message = f"{text(reason, signature, args, kwargs)}\nFallback to flat signature also failed due to: {names}" \
        f"{flat.reason}"
    return TypeError(message) if tf2.enabled() else function_spec.SignatureMismatch(f"{message}\n{flat}")


def signature_of_function(spec):
    """The inspect.Signature of a FunctionSpec: an input signature's specs are annotations."""
    full, kinds = spec.fullargspec, spec.input_signature
    parameter, empty, defaults = inspect.Parameter, inspect.Parameter.empty, spec._default_values
    by_place = parameter.POSITIONAL_OR_KEYWORD if kinds is None or spec.vararg_name is None \
        else parameter.POSITIONAL_ONLY
    found = []
    for i, name in enumerate(spec.arg_names):
        kind: Any = empty
        if kinds is not None:
            known = i < len(kinds) or i in defaults
            kind = function_text.Kind(kinds[i] if i < len(kinds) else defaults[i], named=True) if known else empty
        found.append(parameter(name, by_place, default=_Captured() if i in defaults else empty, annotation=kind))
    if kinds is None and spec.vararg_name:
        found.append(parameter(spec.vararg_name, parameter.VAR_POSITIONAL))
    for i in range(len(spec.arg_names), len(kinds or ())):
        found.append(parameter(f"{spec.vararg_name or 'arg'}_{i - len(spec.arg_names)}", by_place,
                               annotation=function_text.Kind(kinds[i], named=True)))
    for name in full.kwonlyargs:
        value = (full.kwonlydefaults or {}).get(name, empty)
        kind = empty if kinds is None or value is empty else function_text.Kind(value, named=True)
        found.append(parameter(name, parameter.KEYWORD_ONLY, default=empty if value is empty else _Captured(),
                               annotation=kind))
    if kinds is None and full.varkw:
        found.append(parameter(full.varkw, parameter.VAR_KEYWORD))
    return inspect.Signature(found, __validate_parameters__=False)


def fault(signature, args, kwargs):
    """Why arguments do not fit a signature of kinds, or None if they do."""
    try:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].annotation
            if isinstance(kind, function_text.Kind):
                _cast(value, kind.value)
    except (TypeError, ValueError, AttributeError) as e:
        return str(e)
    return None


def text(reason, signature, args, kwargs):
    """The message of a call that does not fit for a reason."""
    return (f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
            f"signature: {signature}.")


def _cast(value, kind):
    """TypeError, ValueError: a value is not of a kind."""
    if isinstance(kind, TensorSpec):
        _cast_tensor(value, kind)
    elif isinstance(kind, type_spec.TypeSpec):
        given = value if isinstance(value, type_spec.TypeSpec) else function_spec.components(kind, value)
        specs, parts = (nest.flatten(x, expand_composites=True) for x in (kind, given))
        if len(specs) != len(parts):
            nest.assert_same_structure(specs, parts)
        for part, spec in zip(parts, specs):
            _cast(part, spec)
    elif nest.is_sequence(kind):
        _cast_structure(value, kind)
    elif isinstance(value, Tensor) and not value._is_eager or not bool(value == kind):
        raise TypeError(f"Can not cast {value!r} to {function_text.kind_text(kind)}")


def _cast_tensor(value, kind):
    if not isinstance(value, (Tensor, TensorSpec)):
        if value is None:
            raise TypeError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
                            "Tensor.")
        value = conversion.convert_to_tensor(value, dtype=None if function_spec.is_variable(value) else kind.dtype)
    if not kind.is_compatible_with(value):
        raise TypeError(f"Can not cast {TensorSpec(value.shape, value.dtype, kind.name)!r} to {kind!r}")


def _cast_structure(value, kind):
    fields = getattr(type(kind), "_fields", None)
    if fields is not None:
        if type(value) is not type(kind):
            raise TypeError(f"Cannot cast {value!r} to type {type(kind)}.")
    elif isinstance(kind, (list, tuple)):
        wanted = list if isinstance(kind, list) else tuple
        if not isinstance(value, wanted):
            raise TypeError(f"Can not cast {value!r} to {wanted.__name__} type.")
        if len(value) != len(kind):
            raise TypeError(f"Expected {value} to have length of {len(kind)}")
    else:
        if not hasattr(value, "keys"):
            raise TypeError(f"Can not cast {value!r} to a Dict type.")
        if set(value.keys()) != set(kind.keys()):
            raise TypeError(f"{value} has different keys with the TraceType {function_text.kind_text(kind, True)}.")
        value, kind = [value[k] for k in kind], list(kind.values())
    for own, other in zip(value, kind):
        _cast(own, other)
