"""TensorArraySpec: what is known of a TensorArray before it is there."""
from penstock._src.graph import dtypes, ops, tensor_shape
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import TypeSpec, register_type_spec_from_value_converter, type_spec_from_value
from penstock._src.control_flow import list_ops
from penstock._src.control_flow.tensor_array_ops import TensorArray


@type_spec_registry.register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """Of a TensorArray, which goes as the list of its elements: a scalar variant.

    element_shape, dtype: of the elements. dynamic_size, infer_shape: as in TensorArray.
    """

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")
    value_type = property(lambda self: TensorArray, doc="TensorArray.")

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = tensor_shape.as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @staticmethod
    def from_value(value):
        """The spec of a TensorArray. TypeError if it is none."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`.")
        return TensorArraySpec(value.element_shape, value.dtype, value._dynamic_size, value._infer_shape)

    def is_compatible_with(self, other):
        """Whether a value, or what a spec describes, is one of these; `infer_shape` may differ."""
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return (isinstance(other, TensorArraySpec) and self._dtype.is_compatible_with(other._dtype)
                and self._element_shape.is_compatible_with(other._element_shape)
                and self._dynamic_size == other._dynamic_size)

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        if value.flow.dtype == dtypes.variant:
            return [value.flow]
        with ops.name_scope("convert_tensor_array"):
            return [list_ops.tensor_list_from_tensor(value.stack(), element_shape=value.element_shape)]

    def _from_components(self, components):
        return TensorArray(self._dtype, flow=components[0], dynamic_size=self._dynamic_size,
                           infer_shape=self._infer_shape, element_shape=self._element_shape)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        # The two flags come before the shape, so that all of the spec can be told from classes, types and shapes.
        return tensor_shape.TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)

    def _to_legacy_output_classes(self):
        return TensorArray

    @staticmethod
    def _from_legacy_structure(dtype, shape):
        return TensorArraySpec(shape[2:], dtype, bool(shape[0]), bool(shape[1]))


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)
