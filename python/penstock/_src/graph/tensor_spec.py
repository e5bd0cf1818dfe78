"""TensorSpec: type, shape and name of a tensor that is still to come."""
import copy

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.type_spec import BatchableTypeSpec, TypeSpec


class DenseSpec(TypeSpec):
    """Type, shape and name of what is like a tensor: the base class of TensorSpec, and of libraries' own specs."""

    _named_by_program: bool
    __slots__ = ("_shape", "_shape_tuple", "_dtype", "_name", "_named_by_program")  # the last if it is true

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = tensor_shape.TensorShape(shape)
        self._shape_tuple = self._shape._values
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    shape = property(lambda self: self._shape, doc="The shape.")
    dtype = property(lambda self: self._dtype, doc="The type.")
    name = property(lambda self: self._name, doc="The name, or None.")

    def _serialize(self):
        return self._shape, self._dtype, self._name


@type_spec_registry.register("tf.TensorSpec")
class TensorSpec(DenseSpec, BatchableTypeSpec):
    """Type, shape and name of a tensor."""

    __slots__ = ()
    _is_composite_spec = False  # a leaf

    @classmethod
    def from_spec(cls, spec, name=None):
        """Of something with shape, dtype and name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """Of a tensor. ValueError if it is none."""
        if isinstance(tensor, Tensor):
            return cls(tensor.shape, tensor.dtype, name if name or tensor._is_eager else tensor.op.name)
        raise ValueError("`tensor` should be a tf.Tensor")

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor may have this spec."""
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and \
            self._shape.is_compatible_with(spec_or_tensor.shape)

    def most_specific_compatible_type(self, other):
        """The most specific spec of which both are cases. ValueError if the types differ."""
        if self.dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self} vs {other}")
        return TensorSpec(self.shape.most_specific_compatible_shape(other.shape), self.dtype)

    def is_subtype_of(self, other):
        """Whether all tensors of this spec are tensors of another one, which has its name if it has one."""
        return type(self) is type(other) and (not self.name or self.name == other.name) \
            and self.shape.is_subtype_of(other.shape) and self.dtype.is_subtype_of(other.dtype)

    def _without_tensor_names(self):
        made = copy.copy(self)
        made._name = None
        return made

    def flatten(self):
        """This spec in a list."""
        return [self]

    def to_tensors(self, value):
        """The tensor of a value, in a list."""
        return [self._to_components(value)]

    def from_tensors(self, tensors):
        """The next tensor of an iterator."""
        return next(iter(tensors))

    value_type = property(lambda self: Tensor, doc="Tensor.")

    @property
    def _component_specs(self):
        return self

    def _to_components(self, value):
        from penstock._src.graph import conversion
        try:
            value = conversion.convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            raise ValueError(f"Value {value} is not convertible to a tensor with dtype {self._dtype} and shape "
                             f"{self._shape}.") from None
        if not value.shape.is_compatible_with(self._shape):
            raise ValueError(f"Value {value} is not convertible to a tensor with dtype {self._dtype} and shape "
                             f"{self._shape}.")
        return value

    def _from_components(self, components):
        return components

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        return [self._to_components(value)]

    def _from_compatible_tensor_list(self, tensor_list):
        tensor, = tensor_list
        if not tensor._is_eager and self._shape_tuple is not None:
            tensor.set_shape(self._shape)
        return tensor

    def _from_tensor_list(self, tensor_list):
        tensor, = tensor_list
        if not self.is_compatible_with(tensor):
            raise ValueError(f"Incompatible input: tensor {tensor} is incompatible with {self}")
        return tensor

    def _to_batched_tensor_list(self, value):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self._to_tensor_list(value)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return Tensor

    def _batch(self, batch_size):
        return TensorSpec(tensor_shape.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def __hash__(self):
        return hash((self._shape_tuple, self.dtype))

    def __eq__(self, other):
        return type(self) is type(other) and self._shape_tuple == other._shape_tuple and self._dtype == other._dtype \
            and self._name == other._name

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __reduce__(self):
        return TensorSpec, (self._shape, self._dtype, self._name)


@type_spec_registry.register("tf.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with bounds for the values."""

    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError("minimum and maximum must be provided; but saw '%s' and '%s'" % (minimum, maximum))
        for bound, what in ((minimum, "minimum"), (maximum, "maximum")):
            shape_of_bound = tensor_shape.TensorShape(np.shape(bound))
            from penstock._src.graph import common_shapes
            if self.shape.rank is not None:
                try:
                    common_shapes.broadcast_shape(self.shape, shape_of_bound)
                except ValueError as e:
                    raise ValueError(f"{what} is not compatible with shape. Message: {e}.") from None
        self._minimum = np.array(minimum, dtype=self.dtype.as_numpy_dtype)
        self._maximum = np.array(maximum, dtype=self.dtype.as_numpy_dtype)
        self._minimum.setflags(write=False)
        self._maximum.setflags(write=False)

    @classmethod
    def from_spec(cls, spec):  # type: ignore[override]
        """Of a TensorSpec; the type's own limits are the bounds if it has none."""
        dtype = dtypes.as_dtype(spec.dtype)
        return cls(spec.shape, dtype, getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max),
                   spec.name)

    minimum = property(lambda self: self._minimum, doc="The smallest value.")
    maximum = property(lambda self: self._maximum, doc="The largest value.")

    def __repr__(self):
        return (f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
                f"minimum={self.minimum!r}, maximum={self.maximum!r})")

    def __eq__(self, other):
        return super().__eq__(other) and np.allclose(self.minimum, other.minimum) and \
            np.allclose(self.maximum, other.maximum)

    def __hash__(self):
        return hash((self._shape_tuple, self.dtype))

    def __reduce__(self):
        return BoundedTensorSpec, (self._shape, self._dtype, self._minimum, self._maximum, self._name)
