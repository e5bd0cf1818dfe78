"""Types of a program's own that are made of tensors: classes whose annotations say of what parts their values are."""
import collections.abc
import inspect
import typing
from typing import TYPE_CHECKING, Any

from penstock._src.graph import composite_tensor
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import type_spec
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import hooks
from penstock._src.base import nest

_PLAIN = (bool, int, float, str, bytes, type(None), dtypes.DType)
# What composite values, their specs and Keras need: TensorFlow refuses the same.
_RESERVED = frozenset("""self Spec _type_spec _shape_invariant_to_type_spec _consumers value_type is_compatible_with
    most_specific_compatible_type _with_tensor_ranks_only _to_components _from_components _component_specs
    _to_tensor_list _from_tensor_list _from_compatible_tensor_list _flat_tensor_specs _serialize _deserialize
    _to_legacy_output_types _to_legacy_output_shapes _to_legacy_output_classes _keras_mask""".split())

# What every class has of its own: not what a program's class `Spec` adds.
_reduce_all = hooks.Hook("reduce_all")
_OF_CLASSES = frozenset(["__module__", "__qualname__", "__dict__", "__weakref__", "__annotations__"])


class _Kinds(dict):
    """Field -> annotation. `owner`: the class, as long as annotations name what was not defined when it was made."""

    owner: Any = None

    def resolve(self, later=False):
        """Looks those names up. TypeError: there is no such class, and it may not come `later`."""
        if self.owner is None:
            return
        try:
            known = typing.get_type_hints(self.owner)
        except NameError as e:
            if later:
                return
            missing = str(e).split("'")[1]
            name = next((name for name, kind in self.items() if missing in str(kind)), "?")
            raise TypeError(f"{name}: Unsupported type annotation {missing!r}") from None
        for name, kind in known.items():
            _check_annotation(kind, name)
        self.update(known)
        self.owner = None


class _Dict(dict):
    """A mapping that does not change."""

    def _refuse(self, *args, **kwargs):
        raise TypeError("ImmutableDict is immutable.")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __repr__(self):
        return f"ImmutableDict({super().__repr__()})"

    def __reduce__(self):
        return _Dict, (dict(self),)


def _name_of(kind):
    return getattr(kind, "__name__", None) or repr(kind)


def _check_annotation(kind, where):
    """TypeError: values of this kind cannot be parts."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        args = args[:1] if len(args) == 2 and args[1] is Ellipsis else args
    elif origin is collections.abc.Mapping and len(args) == 2:
        if args[0] not in (bool, int, float, str, bytes):
            raise TypeError(f"In field {where!r}: Mapping had a key {args[0]!r} with type {type(args[0]).__name__!r}")
        args = args[1:]
    elif origin is not typing.Union:
        known = kind in _PLAIN or kind in (Tensor, tensor_shape.TensorShape) or isinstance(kind, type_spec.TypeSpec)
        known = known or isinstance(kind, type) and issubclass(kind, (composite_tensor.CompositeTensor,
                                                                      type_spec.TypeSpec))
        if not known:
            raise TypeError(f"In field {where!r}: Unsupported type annotation {_name_of(kind)!r}")
        return
    for part in args:
        _check_annotation(part, where)


def _mismatch(where, kind, value):
    name = _name_of(kind) if isinstance(kind, type) else repr(kind)
    expected = f"'{name}'" if isinstance(kind, type) else name
    return TypeError(f"{where}: expected {expected}, got {type(value).__name__!r}")


def _converted(value, kind, where, as_spec):
    """A value as its annotation wants it; `as_spec`: a spec of the value instead. TypeError if it does not fit."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        for part in args:
            try:
                return _converted(value, part, where, as_spec)
            except (TypeError, ValueError):
                continue
        raise _mismatch(where, kind, value)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{where}: expected tuple, got {type(value).__name__!r}")
        kinds = args[:1] * len(value) if len(args) == 2 and args[1] is Ellipsis else args
        if len(kinds) != len(value):
            raise TypeError(f"{where}: expected tuple with length {len(kinds)}, got {value!r}")
        return tuple(_converted(x, part, f"{where}[{i}]", as_spec) for i, (x, part) in enumerate(zip(value, kinds)))
    if origin is collections.abc.Mapping:
        if not isinstance(value, collections.abc.Mapping):
            raise TypeError(f"{where}: expected mapping, got {type(value).__name__!r}")
        return _Dict((_converted(k, args[0], f"{where}.<key>", as_spec),
                      _converted(x, args[1], f"{where}[{k!r}]", as_spec)) for k, x in value.items())
    if kind is tensor_shape.TensorShape:
        return tensor_shape.as_shape(value)
    if kind is Tensor or isinstance(kind, TensorSpec):
        return _tensor(value, kind, where, as_spec)
    if as_spec and isinstance(kind, type) and issubclass(kind, composite_tensor.CompositeTensor):
        if not (isinstance(value, type_spec.TypeSpec) and issubclass(value.value_type, kind)):
            raise TypeError(f"{where}: expected a TypeSpec for {kind.__name__!r}, got {type(value).__name__!r}")
        return value
    if isinstance(kind, type_spec.TypeSpec):
        if not kind.is_compatible_with(value):
            raise _mismatch(where, kind, value)
        return value
    if not isinstance(value, kind) or kind is int and isinstance(value, bool):
        raise _mismatch(where, kind, value)
    return value


def _tensor(value, kind, where, as_spec):
    if as_spec:
        if not isinstance(value, TensorSpec):
            raise TypeError(f"{where}: expected a TensorSpec, got {type(value).__name__!r}")
        return value
    if not isinstance(value, Tensor):
        try:
            value = ops.convert_to_tensor(value, dtype=kind.dtype if isinstance(kind, TensorSpec) else None)
        except (TypeError, ValueError) as e:
            raise TypeError(f"{where}: expected a Tensor, got {type(value).__name__!r}") from e
    if isinstance(kind, TensorSpec) and not kind.is_compatible_with(value):
        raise _mismatch(where, kind, value)
    return value


def _parts(value):
    """The tensors and values made of tensors in a field (or their specs), in order."""
    if isinstance(value, (tuple, list)):
        return [part for x in value for part in _parts(x)]
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in _parts(value[key])]
    return [value] if isinstance(value, (Tensor, composite_tensor.CompositeTensor, type_spec.TypeSpec)) else []


def _filled(value, parts, reshape=lambda shape: shape):
    """A field of a spec, with parts in place of their specs. reshape: what becomes of shapes."""
    if isinstance(value, tuple):
        return tuple(_filled(x, parts, reshape) for x in value)
    if isinstance(value, dict):
        made = {key: _filled(value[key], parts, reshape) for key in sorted(value)}
        return _Dict((key, made[key]) for key in value)
    if isinstance(value, tensor_shape.TensorShape):
        return reshape(value)
    return next(parts) if isinstance(value, type_spec.TypeSpec) else value


def _spec_of(value):
    if isinstance(value, tuple):
        return tuple(map(_spec_of, value))
    if isinstance(value, dict):
        return _Dict((key, _spec_of(x)) for key, x in value.items())
    return type_spec.type_spec_from_value(value) if _parts(value) else value


class _Fields:
    """Attributes by name that are set only during construction: what values and their specs share."""

    if TYPE_CHECKING:  # an annotation that is evaluated would be a field
        _extension_fields: Any
        _extension_init: Any
        _extension_signature: Any
        Spec: Any

    def __setattr__(self, name, value):
        self._check_building(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self._check_building(name)
        object.__delattr__(self, name)

    def _check_building(self, name):
        if not self.__dict__.get("_building"):
            kind = "ExtensionTypeSpec" if isinstance(self, type_spec.TypeSpec) else "ExtensionType"
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of {kind}.")

    def _take(self, values, as_spec):
        """Fields from what was set or given."""
        self._extension_fields.resolve()
        missing = {name for name in self._extension_fields if name not in values}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        for name, kind in self._extension_fields.items():
            self.__dict__[name] = _converted(values[name], kind, name, as_spec)

    def _values(self):
        return tuple(self.__dict__[name] for name in self._extension_fields)

    def __repr__(self):
        fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._extension_fields)
        return f"{type(self).__qualname__ if isinstance(self, ExtensionType) else type(self).__name__}({fields})"


class ExtensionTypeSpec(_Fields, type_spec.TypeSpec):
    """What is known of the values of an extension type; `Spec` of that type, with a spec for each tensor."""

    _extension_fields = _Kinds()

    _extension_init = None  # the one that a program's class `Spec` has

    def __init__(self, *args, **kwargs):
        if self._extension_init is None:
            given = self._extension_signature.bind(*args, **kwargs)
            given.apply_defaults()
            self._take(given.arguments, True)
            return
        self.__dict__["_building"] = True
        self._extension_init(*args, **kwargs)
        del self.__dict__["_building"]
        self._take(self.__dict__, True)

    value_type = property(lambda self: self._extension_value_type)
    _component_specs = property(lambda self: tuple(_parts(self._values())))

    def _serialize(self):
        return tuple((name, self.__dict__[name]) for name in self._extension_fields)

    @classmethod
    def _deserialize(cls, serialization):
        made = object.__new__(cls)
        made._take(dict(serialization), True)
        return made

    def __reduce__(self):
        return type(self)._deserialize, (self._serialize(),)

    def _to_components(self, value):
        return tuple(_parts(value._values()))

    def _from_components(self, components):
        made = object.__new__(self.value_type)
        parts = iter(components)
        for name in self._extension_fields:
            made.__dict__[name] = _filled(self.__dict__[name], parts)
        return made


class ExtensionType(_Fields, composite_tensor.CompositeTensor):
    """Base class of a program's own types: `class Masked(tf.experimental.ExtensionType): values: tf.Tensor; ...`.

    Fields are annotated with Tensor, types made of tensors, TensorShape, DType, TensorSpecs, Python's plain types, and
    Tuple, Mapping, Union and Optional of these. `__validate__` looks at what was made. TypeError: a field is of another
    type. Values go into and out of functions, conditionals, loops and datasets as other tensors do. For models that are
    saved with it, `__name__ = "project.Masked"` names it. ValueError: another one has that name.
    """

    _extension_fields = _Kinds()
    _extension_spec_base = ExtensionTypeSpec

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name in [*set(vars(cls)) - {"Spec"}, *vars(cls).get("__annotations__", {})]:
            if name in _RESERVED or name.lower().startswith("_tf_extension_type"):
                raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved.")
        hints = _Kinds((name, kind) for base in reversed(cls.__mro__)
                       for name, kind in vars(base).get("__annotations__", {}).items())
        written = dict(hints)
        hints.owner = cls
        hints.resolve(later=True)
        cls._extension_fields = hints
        defaults = {name: getattr(cls, name) for name in hints if hasattr(cls, name)}
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind,
                                        default=defaults.get(name, inspect.Parameter.empty))
                      for name, kind in written.items()]
        known = [p.default is not p.empty for p in parameters]
        if known != sorted(known):
            parameters = [p.replace(kind=p.KEYWORD_ONLY) if any(known[:i]) and not known[i] else p
                          for i, p in enumerate(parameters)]
            parameters.sort(key=lambda p: p.kind)
        cls._extension_signature = inspect.Signature(parameters)
        if "__init__" in vars(cls):
            cls._extension_init = vars(cls)["__init__"]
        init = getattr(cls, "_extension_init", None)

        def __init__(self, *args, **kwargs):
            if init is None:
                given = self._extension_signature.bind(*args, **kwargs)
                given.apply_defaults()
                values = given.arguments
            else:
                self.__dict__["_building"] = True
                init(self, *args, **kwargs)
                values = {name: self.__dict__.get(name, defaults.get(name, self)) for name in self._extension_fields}
                values = {name: value for name, value in values.items() if value is not self}
                del self.__dict__["_building"]
            self._take(values, False)
            if hasattr(self, "__validate__"):
                self.__validate__()

        setattr(__init__, "__signature__", cls._extension_signature if init is None else inspect.signature(init))
        setattr(cls, "__init__", __init__)
        spec = vars(cls).get("Spec")
        members = {k: v for k, v in vars(spec).items() if k not in _OF_CLASSES} if spec is not None else {}
        if "__init__" in members:
            members["_extension_init"] = members.pop("__init__")
        cls.Spec = type(cls.__qualname__.rsplit(".", 1)[-1] + ".Spec", (cls._extension_spec_base,), {
            **members, "__module__": cls.__module__, "_extension_fields": hints, "_extension_value_type": cls,
            "_extension_signature": inspect.Signature([p.replace(default=p.empty) for p in parameters])})
        if "__name__" in vars(cls):  # under which models are saved with it
            type_spec_registry.register(vars(cls)["__name__"] + ".Spec")(cls.Spec)

    @property
    def _type_spec(self):
        spec = object.__new__(self.Spec)
        for name in self._extension_fields:
            spec.__dict__[name] = _spec_of(self.__dict__[name])
        return spec

    def __eq__(self, other):
        from penstock._src.graph import gen
        if type(self) is not type(other) or not self._type_spec.is_compatible_with(other):
            return False
        equal = [_reduce_all(gen.equal(a, b)) if isinstance(a, Tensor) else a == b
                 for a, b in zip(_parts(self._values()), _parts(other._values()))]
        return _reduce_all(ops.convert_to_tensor(equal, dtype="bool"))

    def __ne__(self, other):
        from penstock._src.graph import gen
        equal = self.__eq__(other)
        return not equal if isinstance(equal, bool) else gen.logical_not(equal)

    __hash__ = None  # type: ignore[assignment]


class ExtensionTypeBatchEncoder:
    """How values of a BatchableExtensionType are put together in batches and taken apart: each part by itself. Classes
    derived from it may take other parts; a type names one as `__batch_encoder__`."""

    def batch(self, spec, batch_size):
        """The spec of a batch."""
        return spec._with_parts([part._batch(batch_size) for part in spec._component_specs],
                                lambda shape: tensor_shape.TensorShape([batch_size]).concatenate(shape))

    def unbatch(self, spec):
        """The spec of an element of a batch."""
        return spec._with_parts([part._unbatch() for part in spec._component_specs], lambda shape: shape[1:])

    def encode(self, spec, value, minimum_rank=0):
        """The parts of a value, batchable themselves. minimum_rank: how many dimensions are unbatched."""
        return spec._to_components(value)

    def encoding_specs(self, spec):
        """Their specs."""
        return spec._component_specs

    def decode(self, spec, encoded_value):
        """The value of its parts."""
        return spec._from_components(encoded_value)


class _BatchableSpec(ExtensionTypeSpec, type_spec.BatchableTypeSpec):
    """Spec of a BatchableExtensionType."""

    @property
    def _encoder(self) -> Any:
        return getattr(self.value_type, "__batch_encoder__", _BY_PARTS)

    _encoded = property(lambda self: nest.flatten(self._encoder.encoding_specs(self)))

    def _with_parts(self, parts, reshape):
        made, parts = object.__new__(type(self)), iter(parts)
        for name in self._extension_fields:
            made.__dict__[name] = _filled(self.__dict__[name], parts, reshape)
        return made

    def _batch(self, batch_size):
        return self._encoder.batch(self, batch_size)

    def _unbatch(self):
        return self._encoder.unbatch(self)

    @property
    def _flat_tensor_specs(self):
        return [spec for part in self._encoded for spec in part._flat_tensor_specs]

    def _tensors(self, value, method, minimum_rank):
        parts = nest.flatten(self._encoder.encode(self, value, minimum_rank))
        return [tensor for spec, part in zip(self._encoded, parts) for tensor in getattr(spec, method)(part)]

    def _to_tensor_list(self, value):
        return self._tensors(value, "_to_tensor_list", 0)

    def _to_batched_tensor_list(self, value):
        return self._tensors(value, "_to_batched_tensor_list", 1)

    def _from_compatible_tensor_list(self, tensor_list):
        tensors, parts = iter(tensor_list), []
        for spec in self._encoded:
            parts.append(spec._from_compatible_tensor_list([next(tensors) for _ in spec._flat_tensor_specs]))
        return self._encoder.decode(self, nest.pack_sequence_as(self._encoder.encoding_specs(self), parts))


_BY_PARTS = ExtensionTypeBatchEncoder()


class BatchableExtensionType(ExtensionType):
    """An ExtensionType whose values datasets can batch and unbatch, and map_fn can go through."""

    _extension_spec_base = _BatchableSpec


def as_dict(value):
    """The fields of a value of an extension type, by name."""
    return {name: value.__dict__[name] for name in value._extension_fields}
