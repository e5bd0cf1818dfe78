"""What a trace takes and gives as values that programs look at: kinds of arguments and results, FunctionType."""
import collections
import inspect
import types
import weakref

from penstock.eager import function_spec
from penstock.framework import type_spec
from penstock.framework.indexed_slices import IndexedSlices
from penstock.framework.tensor import Tensor
from penstock.framework.tensor_spec import TensorSpec
from penstock.util import nest


class _Kind:
    """A kind that is no spec: told by its parts."""

    def _parts(self):
        return tuple(vars(self).items())

    def __eq__(self, other):
        return type(other) is type(self) and other._parts() == self._parts()

    def __hash__(self):
        return hash(repr(self))


class Literal(_Kind):
    """A value of Python's that the trace is for."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Literal[{self.value!r}]"


class Weakref(_Kind):
    """An object that the trace is for."""

    def __init__(self, ref):
        self._ref = ref

    def __repr__(self):
        return f"Weakref[{self._ref!r}]"


class List(_Kind):
    """A list of kinds."""

    def __init__(self, *components):
        self.components = components

    def __repr__(self):
        return f"{type(self).__name__}[{', '.join(map(repr, self.components))}]"


class Tuple(List):
    """A tuple of kinds."""


class Dict(_Kind):
    """A dictionary of kinds."""

    def __init__(self, mapping):
        self.mapping = mapping

    def __repr__(self):
        return f"Dict[{_pairs(self.mapping.items())}]"


class NamedTuple(_Kind):
    """A named tuple of kinds."""

    def __init__(self, type_name, attribute_names, attributes):
        self.type_name = type_name
        self.attribute_names = tuple(attribute_names)
        self.attributes = Tuple(*attributes)

    def __repr__(self):
        return f"{self.type_name}[{_pairs(zip(self.attribute_names, self.attributes.components))}]"


def _pairs(items):
    return ", ".join(f"[{key!r}, {kind!r}]" for key, kind in items)


def kind_of(value, named=False):
    """The kind of a value, or of what stands for one in a trace. named: specs keep their names."""
    if isinstance(value, TensorSpec):
        return value if named or value.name is None else TensorSpec(value.shape, value.dtype)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, type_spec.TypeSpec):
        return value
    if function_spec.is_variable(value) or isinstance(value, IndexedSlices) or getattr(
            value, "_is_composite_tensor", False):
        return type_spec.type_spec_from_value(value)
    fields = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return NamedTuple(type(value).__name__, fields, [kind_of(x, named) for x in value])
    if isinstance(value, (list, tuple)):
        return (List if isinstance(value, list) else Tuple)(*[kind_of(x, named) for x in value])
    if nest.is_sequence(value) and hasattr(value, "items"):
        return Dict({key: kind_of(x, named) for key, x in value.items()})
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return Literal(value)
    try:
        return Weakref(weakref.ref(value))
    except TypeError:
        return Literal(value)


def _flat(kind):
    """The specs of the tensors that a kind consists of."""
    if isinstance(kind, TensorSpec):
        return [kind]
    if type_spec.is_composite_spec(kind):
        return nest.flatten(kind, expand_composites=True)
    if isinstance(kind, type_spec.TypeSpec):
        return [kind]
    if isinstance(kind, List):
        return [spec for part in kind.components for spec in _flat(part)]
    if isinstance(kind, NamedTuple):
        return _flat(kind.attributes)
    if isinstance(kind, Dict):
        return [spec for key in sorted(kind.mapping) for spec in _flat(kind.mapping[key])]
    return []


class Parameter(inspect.Parameter):
    """A parameter of a traced function. `type_constraint`: the kind of what it is given, None: any."""

    def __init__(self, name, kind, optional=False, type_constraint=None):
        super().__init__(name, kind, default=_CAPTURED if optional else self.empty,
                         annotation=self.empty if type_constraint is None else type_constraint)

    @property
    def type_constraint(self):
        """The kind, or None."""
        return None if self.annotation is self.empty else self.annotation

    @property
    def optional(self):
        """Whether it has a default value."""
        return self.default is not self.empty

    def __repr__(self):
        return (f"Parameter(name={self.name}, kind={self.kind.name}, optional={self.optional!r}, "
                f"type_constraint={self.type_constraint!r})")


class _Captured:

    def __repr__(self):
        return "<captured_default_value>"


_CAPTURED = _Captured()


class FunctionType(inspect.Signature):
    """The signature of a traced function, with the kinds of parameters and results, and of what it captures."""

    __slots__ = ("_captures",)

    def __init__(self, parameters, captures=(), return_annotation=inspect.Signature.empty):
        super().__init__(parameters, return_annotation=return_annotation)
        self._captures = collections.OrderedDict(captures)

    parameters = property(lambda self: types.MappingProxyType(collections.OrderedDict(super().parameters)))
    captures = property(lambda self: self._captures, doc="{id of what is captured: its spec}.")

    @property
    def output(self):
        """The kind of the result, or None where no trace has told it."""
        return None if self.return_annotation is self.empty else self.return_annotation

    @property
    def flat_inputs(self):
        """The specs of the tensors that a call is given."""
        return [spec for p in sorted(self.parameters.values(), key=_place)
                for spec in _flat(p.type_constraint)]

    @property
    def flat_outputs(self):
        """The specs of the tensors that a call gives."""
        return _flat(self.output)

    @property
    def flat_captures(self):
        """The specs of what is captured."""
        return list(self._captures.values())

    def __repr__(self):
        return several_lines(self, self.captures.items())


def several_lines(signature, captures):
    """A line for each parameter, result and captured value."""
    def one(annotation):
        return None if annotation is inspect.Signature.empty else annotation

    lines = ["Input Parameters:"]
    lines += [f"  {p.name} ({p.kind.name}): {one(p.annotation)!r}" for p in signature.parameters.values()] or ["  None"]
    lines += ["Output Type:", f"  {one(signature.return_annotation)!r}", "Captures:"]
    lines += [f"  {key}: {spec}" for key, spec in captures] or ["  None"]
    return "\n".join(lines)


def _place(parameter):
    by_name = parameter.kind is parameter.KEYWORD_ONLY
    return by_name, parameter.name if by_name else ""


def of_function(spec):
    """The FunctionType of a function that is traced for any arguments, or for those of its input signature."""
    full, asked, kinds = spec.fullargspec, spec.input_signature, inspect.Parameter
    first_default = len(spec.arg_names) - len(full.defaults or ())
    found = []
    for i, name in enumerate(spec.arg_names):
        wanted = None if asked is None or i >= len(asked) else kind_of(asked[i], True)
        found.append(Parameter(name, kinds.POSITIONAL_OR_KEYWORD, i >= first_default, wanted))
    if full.varargs and asked is None:
        found.append(Parameter(full.varargs, kinds.VAR_POSITIONAL))
    found += [Parameter(name, kinds.KEYWORD_ONLY, name in (full.kwonlydefaults or {})) for name in full.kwonlyargs]
    if full.varkw:
        found.append(Parameter(full.varkw, kinds.VAR_KEYWORD))
    return FunctionType(found)
