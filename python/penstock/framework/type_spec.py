"""What is known of a value before it is there: TypeSpec, and the specs of values made of several tensors."""
import numpy as np

from penstock.framework import dtypes
from penstock.framework import tensor_shape
from penstock.framework.indexed_slices import IndexedSlices, IndexedSlicesValue
from penstock.framework.sparse_tensor import SparseTensor, SparseTensorValue
from penstock.framework.tensor import Tensor
from penstock.framework.tensor_spec import TensorSpec


class TypeSpec:
    """Base class: the kind of a value (`value_type`), of which parts it is made, and what is known of them."""

    __slots__ = ()

    value_type = property(lambda self: None, doc="The class of the values.")

    def _serialize(self):
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def _to_components(self, value):
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components):
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @property
    def _flat_tensor_specs(self):
        return list(self._component_specs)

    def _to_tensor_list(self, value):
        return list(self._to_components(value))

    def _from_tensor_list(self, tensor_list):
        specs = list(self._component_specs)
        if len(specs) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (tensor, spec) in enumerate(zip(tensor_list, specs)):
            if not spec.is_compatible_with(type_spec_from_value(tensor)):
                raise ValueError(f"Incompatible input: tensor {i} ({tensor}) is incompatible with {spec}")
        return self._from_components(tensor_list)

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or the values of a spec, may have this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and all(
            _compatible(a, b) for a, b in zip(self._serialize(), other._serialize()))

    def most_specific_compatible_type(self, other):
        """The most specific spec of which both are cases. ValueError if there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize([_merged(a, b) for a, b in zip(self._serialize(), other._serialize())])

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


def _compatible(a, b):
    if isinstance(a, (tensor_shape.TensorShape, dtypes.DType)) and type(a) is type(b):
        return a.is_compatible_with(b)
    return type(a) is type(b) and a == b


def _merged(a, b):
    if isinstance(a, tensor_shape.TensorShape):
        return a.most_specific_compatible_shape(b)
    if a != b:
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a


def _key(items):
    return tuple(x._values if isinstance(x, tensor_shape.TensorShape) else x for x in items)


def _all_arrays(components):
    return all(isinstance(c, np.ndarray) for c in components)


class IndexedSlicesSpec(TypeSpec):
    """Of IndexedSlices."""

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")
    value_type = property(lambda self: IndexedSlices, doc="IndexedSlices.")

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape = tensor_shape.as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = tensor_shape.as_shape(indices_shape).with_rank(1)

    def _serialize(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self):
        specs = [TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._values_dtype),
                 TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.ndims], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value):
        return tuple(c for c in (value.values, value.indices, value.dense_shape) if c is not None)

    def _from_components(self, components):
        if _all_arrays(components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


class SparseTensorSpec(TypeSpec):
    """Of SparseTensor."""

    __slots__ = ("_shape", "_dtype")
    value_type = property(lambda self: SparseTensor, doc="SparseTensor.")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    shape = property(lambda self: self._shape, doc="The shape of the whole tensor.")

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.rank
        count = None if rank is None or any(d != 1 for d in self._shape._values) else 1
        return [TensorSpec([count, rank], dtypes.int64), TensorSpec([count], self._dtype),
                TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value):
        return value.indices, value.values, value.dense_shape

    def _from_components(self, components):
        kind = SparseTensorValue if _all_arrays(components) else SparseTensor
        return kind(*components)


def type_spec_from_value(value):
    """The spec of a tensor, a composite tensor, a variable, or a value that becomes a tensor. TypeError if it has
    none."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (IndexedSlices, SparseTensor, SparseTensorValue)):
        return _composite_spec(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype))
    if isinstance(value, (bool, int, float, complex, bytes, str, list, tuple)):
        from penstock.framework import tensor_values
        try:
            _, dtype, shape = tensor_values.to_array(value)
        except ValueError:
            raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None
        return TensorSpec(shape, dtype)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return TensorSpec(value.shape, value.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")


def _composite_spec(value):
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, SparseTensorValue):
        return SparseTensorSpec([int(d) for d in value.dense_shape], np.asarray(value.values).dtype)
    inner = value.values.shape[1:]
    rows = value.dense_shape[:1] if isinstance(value.dense_shape, np.ndarray) else value.shape[:1]
    return IndexedSlicesSpec(
        tensor_shape.as_shape(rows if rows else [None]).concatenate(inner), value.values.dtype, value.indices.dtype,
        None if value.dense_shape is None else value.dense_shape.dtype, value.indices.shape)
