"""What is known of a value before it is there: TypeSpec, and how it is found for a value."""
from typing import Any

import numpy as np

from penstock._src.graph import composite_tensor
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph.tensor import Tensor
from penstock._src.base import nest


class TypeSpec:
    """Base class: the kind of a value (`value_type`), of which parts it is made, and what is known of them."""

    __slots__ = ()
    _is_composite_spec = True
    _is_opaque = False  # whether the tensors of a value do not tell of which kind it is

    value_type = property(lambda self: None, doc="The class of the values.")

    def _serialize(self):
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def _without_tensor_names(self):
        """The spec with none of the names of tensors in it."""
        return self._deserialize(_nameless(self._serialize()))

    def _to_components(self, value):
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components):
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    _component_specs: Any

    # As datasets hold a value: a flat list of tensors. Sparse and ragged tensors go as one variant each, see
    # `_flat_tensor_specs` of theirs.

    @property
    def _flat_tensor_specs(self):
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value):
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_compatible_tensor_list(self, tensor_list):
        return self._from_components(nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True))

    def _from_tensor_list(self, tensor_list):
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (tensor, spec) in enumerate(zip(tensor_list, specs)):
            if not spec.is_compatible_with(type_spec_from_value(tensor)):
                raise ValueError(f"Incompatible input: tensor {i} ({tensor}) is incompatible with {spec}")
        return self._from_compatible_tensor_list(tensor_list)

    # What datasets of version 1 call classes, types and shapes.

    def _to_legacy_output_types(self):
        return self

    def _to_legacy_output_shapes(self):
        return self

    def _to_legacy_output_classes(self):
        return self

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or the values of a spec, may have this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other):
        """The most specific spec of which both are cases. ValueError if there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_merged(self._serialize(), other._serialize()))

    def is_subtype_of(self, other):
        """Whether all values of this spec are values of another one."""
        return type(self) is type(other) and _within(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others):
        """The most specific spec that has all values of this one and of others, or None."""
        found = self
        for other in others:
            if type(self) is not type(other):
                return None
            try:
                found = self._deserialize(_merged(found._serialize(), other._serialize()))
            except ValueError:
                return None
        return found

    def flatten(self):
        """The specs of the tensors that a value is made of."""
        return nest.flatten(self, expand_composites=True)

    def to_tensors(self, value):
        """The tensors that a value is made of."""
        return nest.flatten(self._to_components(value), expand_composites=True)

    def from_tensors(self, tensors):
        """The value that is made of the next tensors of an iterator."""
        tensors = iter(tensors)
        parts = [next(tensors) for _ in self.flatten()]
        return nest.pack_sequence_as(self, parts, expand_composites=True)

    def __eq__(self, other):
        return type(other) is type(self) and _key(self._serialize()) == _key(other._serialize())

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self):
        return type(self), tuple(self._serialize())

    def __repr__(self):
        return f"{type(self).__name__}{tuple(self._serialize())!r}"


def _nameless(value):
    if isinstance(value, TypeSpec):
        return value._without_tensor_names()
    if isinstance(value, (list, tuple)):
        parts = map(_nameless, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return type(value)((key, _nameless(part)) for key, part in value.items())
    return value


def _compatible(a, b):
    if isinstance(a, TypeSpec):
        return a.is_compatible_with(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_compatible, a, b))
    if isinstance(a, dict):
        return set(a) == set(b) and all(_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (tensor_shape.TensorShape, dtypes.DType)):
        return a.is_compatible_with(b)
    return _key(a) == _key(b)


def _within(a, b):
    if isinstance(a, (TypeSpec, tensor_shape.TensorShape, dtypes.DType)):
        return type(a) is type(b) and a.is_subtype_of(b)
    if type(a) is type(b) and isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_within, a, b))
    if type(a) is type(b) and isinstance(a, dict):
        return set(a) == set(b) and all(_within(a[key], b[key]) for key in a)
    return _key(a) == _key(b)


def _merged(a, b):
    if type(a) is type(b):
        if isinstance(a, (list, tuple)) and len(a) == len(b):
            parts = map(_merged, a, b)
            return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
        if isinstance(a, dict) and set(a) == set(b):
            return type(a)((key, _merged(a[key], b[key])) for key in a)
        if isinstance(a, tensor_shape.TensorShape):
            return a.most_specific_compatible_shape(b)
        if isinstance(a, TypeSpec):
            return a.most_specific_compatible_type(b)
        if _key(a) == _key(b):
            return a
    raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")


def _key(value):
    """What compares and hashes as the value: lists, dicts and arrays do not hash."""
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_key, value))
    if isinstance(value, dict):
        return type(value), frozenset((key, _key(item)) for key, item in value.items())
    if isinstance(value, tensor_shape.TensorShape):
        return tensor_shape.TensorShape, value._values
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, _key(value.tolist())
    return value


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be put together in batches, and taken apart."""

    __slots__ = ()

    def _batch(self, batch_size):
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self):
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    def _to_batched_tensor_list(self, value):
        """`_to_tensor_list` of a batch: tensors whose rows are the elements' parts."""
        return self._to_tensor_list(value)


def is_composite_spec(value):
    """Whether it is the spec of a value made of several tensors."""
    return getattr(value, "_is_composite_spec", False)


_converters: list[tuple] = []  # (type, function, whether for its subclasses too), latest last


def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """Makes `converter_fn(value)` give the spec of values of this type, and of its subclasses if that is allowed."""
    _converters.append((type_object, converter_fn, allow_subclass))


def has_converter(value):
    """Whether a function was registered for values of this type."""
    from penstock._src.graph import composite_spec  # noqa: F401  (registers its kinds)
    return any(type(value) is kind or allow and isinstance(value, kind) for kind, _, allow in _converters)


def type_spec_from_value(value):
    """The spec of a tensor, a composite tensor, a variable, or a value that becomes a tensor. TypeError if it has
    none."""
    from penstock._src.graph import composite_spec  # noqa: F401  (registers its kinds)
    from penstock._src.graph.tensor_spec import TensorSpec
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    for kind, converter, allow_subclass in reversed(_converters):
        if type(value) is kind or allow_subclass and isinstance(value, kind):
            return converter(value)
    if isinstance(value, composite_tensor.CompositeTensor):
        return value._type_spec
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype))
    if isinstance(value, (bool, int, float, complex, bytes, str, list, tuple)):
        from penstock._src.graph import tensor_values
        try:
            _, dtype, shape = tensor_values.to_array(value)
        except ValueError:
            raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None
        return TensorSpec(shape, dtype)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return TensorSpec(value.shape, value.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
