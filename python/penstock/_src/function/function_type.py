"""What a trace takes and gives as values that programs look at: kinds of arguments and results, FunctionType."""
import collections
import inspect
import types
import weakref

from penstock._src.function import function_spec
from penstock._src.function import trace_type
from penstock._src.graph import type_spec
from penstock._src.function.func_graph import UnknownArgument
from penstock._src.graph.indexed_slices import IndexedSlices
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import nest


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
        named = named or value.name is None or getattr(value, "_named_by_program", False)
        return value if named else TensorSpec(value.shape, value.dtype)
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
    own = getattr(value, "kind", None) if isinstance(value, UnknownArgument) else trace_type.of(value)
    if own is not None:
        return own
    try:
        return Weakref(weakref.ref(value))
    except TypeError:
        return Literal(value)


def tell(signature, given):
    """Notes in a trace's signature what was given for it: the kinds of what is no tensor, and which specs the program
    has named."""
    signature, given = nest.flatten(signature), nest.flatten(given)
    for known, value in zip(signature, given) if len(signature) == len(given) else ():
        if isinstance(known, UnknownArgument):
            known.kind = kind_of(value)
        elif isinstance(known, TensorSpec) and isinstance(value, TensorSpec) and value.name:
            known._named_by_program = True


def is_subtype(kind, other):
    """Whether all values of a kind are of another one."""
    if isinstance(kind, trace_type.TraceType):
        return kind.is_subtype_of(other)
    if type(kind) is not type(other):
        return False
    if isinstance(kind, List):
        return len(kind.components) == len(other.components) and all(
            map(is_subtype, kind.components, other.components))
    if isinstance(kind, NamedTuple):
        return (kind.type_name, kind.attribute_names) == (other.type_name, other.attribute_names) and is_subtype(
            kind.attributes, other.attributes)
    if isinstance(kind, Dict):
        return kind.mapping.keys() == other.mapping.keys() and all(
            is_subtype(kind.mapping[key], other.mapping[key]) for key in kind.mapping)
    return kind == other


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

    def is_subtype_of(self, other):
        """Whether what it takes another parameter takes, too. TypeError: the kind of one of them is not known."""
        if self.type_constraint is None or other.type_constraint is None:
            raise TypeError("Can not determine relationship between partially specified types.")
        return (self.name, self.kind, self.optional) == (other.name, other.kind, other.optional) and is_subtype(
            self.type_constraint, other.type_constraint)

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

    @classmethod
    def from_callable(cls, obj, *, follow_wrapped=True):  # type: ignore[override]
        """Of a Python function: nothing is known of the kinds of its parameters."""
        return cls([Parameter(p.name, p.kind, p.default is not p.empty)
                    for p in inspect.signature(obj, follow_wrapped=follow_wrapped).parameters.values()])

    @classmethod
    def get_default_values(cls, obj, *, follow_wrapped=True):
        """{parameter: its default value} of a Python function."""
        return {p.name: p.default
                for p in inspect.signature(obj, follow_wrapped=follow_wrapped).parameters.values()
                if p.default is not p.empty}

    def is_supertype_of(self, other):
        """Whether a function of this type is one of another type: what the other takes and captures, this does.
        TypeError: the kind of a parameter is not known."""
        return len(self.parameters) == len(other.parameters) and all(
            own.is_subtype_of(p) for own, p in zip(self.parameters.values(), other.parameters.values())) and all(
                name in other.captures and is_subtype(kind, other.captures[name])
                for name, kind in self.captures.items())

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
