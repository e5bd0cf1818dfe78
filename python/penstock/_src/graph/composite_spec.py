"""The specs of values made of several tensors: IndexedSlicesSpec, SparseTensorSpec."""
import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph import type_spec_registry
from penstock._src.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
from penstock._src.graph.sparse_tensor import SparseTensor, SparseTensorValue
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import BatchableTypeSpec, TypeSpec, register_type_spec_from_value_converter


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


@type_spec_registry.register("tf.SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
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
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        return SparseTensorValue(*components) if _all_arrays(components) else self._shaped(SparseTensor(*components))

    def _shaped(self, tensor):
        tensor.set_shape(self._shape)
        return tensor

    # A dataset holds a sparse tensor as three variants in a vector, and a batch of them as rows of such.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        return [gen.serialize_sparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [gen.serialize_many_sparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list):
        indices, values, shape = gen.deserialize_sparse(tensor_list[0], dtype=self._dtype)
        rank = self._shape.rank
        if not indices._is_eager:
            indices.set_shape([None, rank])
            shape.set_shape([rank])
            if tf2.enabled() and rank:
                shape = self._with_known_sizes(shape)
        return self._shaped(SparseTensor(indices, values, shape))

    def _with_known_sizes(self, dense_shape):
        """The tensor `dense_shape` with constants for the sizes that the spec knows."""
        sizes = self._shape.as_list()
        if None not in sizes:
            return constant_op.constant(sizes, dtypes.int64)
        if sizes.count(None) == len(sizes):
            return dense_shape
        parts = gen.unpack(dense_shape, num=len(sizes))
        return gen.pack([part if size is None else constant_op.constant(size, dtypes.int64)
                         for part, size in zip(parts, sizes)])

    def _from_tensor_list(self, tensor_list):
        tensor, = tensor_list
        if tensor.dtype != dtypes.variant:
            raise ValueError(f"Incompatible input: a sparse tensor needs a variant, not {tensor}")
        return self._from_compatible_tensor_list(tensor_list)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return SparseTensor

    def _batch(self, batch_size):
        return SparseTensorSpec(tensor_shape.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)


def _composite_spec(value):
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, SparseTensorValue):
        if not isinstance(value.values, np.ndarray):
            return _composite_spec(SparseTensor.from_value(value))
        return SparseTensorSpec([int(d) for d in value.dense_shape], np.asarray(value.values).dtype)
    inner = value.values.shape[1:]
    rows = value.dense_shape[:1] if isinstance(value.dense_shape, np.ndarray) else value.shape[:1]
    return IndexedSlicesSpec(
        tensor_shape.as_shape(rows if rows else [None]).concatenate(inner), value.values.dtype, value.indices.dtype,
        None if value.dense_shape is None else value.dense_shape.dtype, value.indices.shape)


for _kind in (IndexedSlices, SparseTensor, SparseTensorValue):
    register_type_spec_from_value_converter(_kind, _composite_spec, allow_subclass=True)
