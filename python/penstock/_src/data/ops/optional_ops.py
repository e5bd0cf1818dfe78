"""Optional: an element that may be missing."""
from penstock._src.data.util import structure
from penstock._src.graph import composite_tensor, dtypes, gen, ops, type_spec
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import deprecation


class Optional(composite_tensor.CompositeTensor):
    """A value or none. Made by `from_value`, `empty`, or an iterator's `get_next_as_optional`."""

    def has_value(self, name=None):
        """Whether there is one, as a tensor."""
        raise NotImplementedError("Optional.has_value()")

    def get_value(self, name=None):
        """The value. An InvalidArgumentError when it runs if there is none."""
        raise NotImplementedError("Optional.get_value()")

    @property
    def value_structure(self):
        """The spec of the value."""
        raise NotImplementedError("Optional.value_structure")

    @property
    def element_spec(self):
        """The spec of the value."""
        return self.value_structure

    @staticmethod
    def from_value(value):
        """One that holds a value."""
        with ops.name_scope("optional") as scope:
            with ops.name_scope("value"):
                spec = structure.type_spec_from_value(value)
                encoded = structure.to_tensor_list(spec, value)
            return _OptionalImpl(gen.optional_from_value(encoded, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure):
        """One without a value, whose value would be of this spec."""
        return _OptionalImpl(gen.optional_none(), value_structure)

    @staticmethod
    def empty(element_spec):
        """One without a value, whose value would be of this spec."""
        return _OptionalImpl(gen.optional_none(), element_spec)


class _OptionalImpl(Optional):
    def __init__(self, variant_tensor, value_structure):
        self._variant_tensor = variant_tensor
        self._element_spec = value_structure

    def has_value(self, name=None):
        """Whether there is one, as a tensor."""
        return gen.optional_has_value(self._variant_tensor, name=name)

    def get_value(self, name=None):
        """The value. An InvalidArgumentError when it runs if there is none."""
        with ops.name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            spec = self._element_spec
            return structure.from_tensor_list(spec, gen.optional_get_value(
                self._variant_tensor, name=scope, output_types=structure.get_flat_tensor_types(spec),
                output_shapes=structure.get_flat_tensor_shapes(spec)))

    value_structure = property(lambda self: self._element_spec, doc="The spec of the value.")

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)


class OptionalSpec(type_spec.TypeSpec):
    """Of Optional."""

    __slots__ = ("_value_structure",)
    _is_opaque = True
    value_type = property(lambda self: _OptionalImpl, doc="The class of optionals.")

    def __init__(self, element_spec=None, value_structure=None):
        self._value_structure = deprecation.deprecated_argument_lookup(
            "element_spec", element_spec, "value_structure", value_structure)  # version 1's name

    def _serialize(self):
        return (self._value_structure,)

    @property
    def _component_specs(self):
        return [TensorSpec((), dtypes.variant)]

    def _to_components(self, value):
        return [value._variant_tensor]

    def _from_components(self, components):
        return _OptionalImpl(components[0], self._value_structure)

    @staticmethod
    def from_value(value):
        """The spec of an optional."""
        return OptionalSpec(value.value_structure)


OptionalStructure = OptionalSpec
