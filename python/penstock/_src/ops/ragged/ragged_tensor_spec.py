"""RaggedTensorSpec: what is known of a ragged tensor before it is there."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape
from penstock._src.graph import type_spec_registry
from penstock._src.base.mode import mode
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor, is_ragged
from penstock._src.ops.ragged.ragged_tensor_value import RaggedTensorValue

__all__ = ["RaggedTensorSpec"]


@type_spec_registry.register("tf.RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """Of RaggedTensor.

    shape: None if nothing is known of it; ragged dimensions are None in it. ragged_rank: how many dimensions are
    divided by row splits, one less than the rank if left out (ValueError if that is unknown). flat_values_spec: of the
    flat values where those are no tensor but made of some, of the same `dtype` (ValueError otherwise).
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype", "_flat_values_spec")

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64,
                 flat_values_spec=None):
        if flat_values_spec is not None:
            dtype = flat_values_spec.dtype if dtype is None else dtype
            if dtype != flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._flat_values_spec = flat_values_spec
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    value_type = property(lambda self: RaggedTensor if self._ragged_rank > 0 else ops.Tensor, doc="RaggedTensor.")
    dtype = property(lambda self: self._dtype, doc="The type of the values.")
    shape = property(lambda self: self._shape, doc="The shape; ragged dimensions are None.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="How many dimensions are divided by row splits.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The type of the row splits.")

    flat_values_spec = property(lambda self: self._flat_values_spec,
                                doc="The spec of flat values that are no tensor, or None.")

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or what a spec describes, is one of these: of no ragged dimensions tensors are too."""
        if self._ragged_rank == 0 and isinstance(spec_or_value, (ops.Tensor, TensorSpec)):
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self):
        told = self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype
        return told if self._flat_values_spec is None else (*told, self._flat_values_spec)

    @property
    def _component_specs(self):
        values = self._flat_values_spec
        if values is None:
            shape = self._shape if self._ragged_rank == 0 else \
                tensor_shape.TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1:])
            values = TensorSpec(shape, self._dtype)
        if self._ragged_rank == 0:
            return [values]
        rows = None if self._shape.ndims is None else self._shape.as_list()[0]
        splits = [None if rows is None else rows + 1]
        return [values, TensorSpec(splits, self._row_splits_dtype),
                *(TensorSpec([None], self._row_splits_dtype) for _ in range(self._ragged_rank - 1))]

    def _to_components(self, value):
        return [value.flat_values, *value.nested_row_splits] if is_ragged(value) else [value]

    def _from_components(self, components):
        arrays = all(isinstance(c, np.ndarray) for c in components)
        if arrays and not mode.eager:
            result = components[0]
            for splits in reversed(components[1:]):
                result = RaggedTensorValue(result, splits)
            return result
        result, *nested = (ops.convert_to_tensor(c) for c in components)
        for axis, splits in reversed(list(enumerate(nested, 1))):
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
            length = None if self._shape.ndims is None else self._shape.as_list()[axis]
            if length is not None:
                result._uniform_row_length = constant_op.constant(length, splits.dtype)
        return result

    # A dataset holds a ragged tensor as one variant, and a batch of them as a vector of such.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _refuse_composite_values(self):
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")

    def _encoded(self, value, batched):
        self._refuse_composite_values()
        rank = value.ragged_rank if is_ragged(value) else 0
        if rank != self._ragged_rank:
            raise ValueError(f"Ragged rank of value {rank} does not match ragged rank of type {self._ragged_rank}")
        splits, values = ([], value) if rank == 0 else (list(value.nested_row_splits), value.flat_values)
        return [gen.ragged_tensor_to_variant(splits, values, batched_input=batched)]

    def _to_tensor_list(self, value):
        return self._encoded(value, False)

    def _to_batched_tensor_list(self, value):
        return self._encoded(value, True)

    def _from_compatible_tensor_list(self, tensor_list):
        self._refuse_composite_values()
        splits, values = gen.ragged_tensor_from_variant(
            tensor_list[0], input_ragged_rank=-1, output_ragged_rank=max(self._ragged_rank, 0), Tvalues=self._dtype,
            Tsplits=self._row_splits_dtype)
        if self._ragged_rank <= 0:
            if not values._is_eager:
                values.set_shape(self._shape)
            return values
        result = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        result._set_shape(self._shape)
        return result

    def _from_tensor_list(self, tensor_list):
        tensor, = tensor_list
        if tensor.dtype != dtypes.variant:
            raise ValueError(f"Incompatible input: a ragged tensor needs a variant, not {tensor}")
        return self._from_compatible_tensor_list(tensor_list)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _batch(self, batch_size):
        self._refuse_composite_values()
        return RaggedTensorSpec(tensor_shape.TensorShape([batch_size]).concatenate(self._shape), self._dtype,
                                self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self):
        self._refuse_composite_values()
        # A row of a tensor of ragged rank 1 is a plain tensor, of rank 0; one of a plain tensor is of rank -1.
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    @classmethod
    def from_value(cls, value):
        """The spec of a ragged tensor, or of the value of one."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)


for _kind in (RaggedTensor, RaggedTensorValue):
    register_type_spec_from_value_converter(_kind, RaggedTensorSpec.from_value)
