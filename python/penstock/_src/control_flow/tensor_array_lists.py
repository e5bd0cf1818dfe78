"""TensorArray as a list: its flow is the list, which no handle names."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.control_flow import list_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow.tensor_array_ops import TensorArray, _check_type


class ListTensorArray(TensorArray):
    """Writing makes another list; reading leaves the element where it is."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None:
            raise ValueError("A TensorArray of version 2 has no handle")
        if flow is not None and (not isinstance(flow, ops.Tensor) or flow.dtype != dtypes.variant):
            raise TypeError("flow must be a variant tensor")
        if flow is None and size is None:
            raise ValueError("Size must be provided if flow is not provided")
        self._handle = None
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._size = size
        self._infer_shape = infer_shape
        self._element_shape = [tensor_shape.as_shape(element_shape)]
        self._colocate_with_first_write_call = colocate_with_first_write_call
        with ops.name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            self._flow = flow if flow is not None else list_ops.tensor_list_reserve(
                element_shape=element_shape, num_elements=size, element_dtype=self._dtype, name=scope)

    def _with_flow(self, flow):
        result = object.__new__(ListTensorArray)
        result.__dict__.update(self.__dict__, _flow=flow)
        return result

    def _converted(self, value):
        value = ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        _check_type(value, self._dtype)
        return value

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("Gradients of a TensorArray of version 2 are gradients of its flow")

    def read(self, index, name=None):
        with ops.name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            return list_ops.tensor_list_get_item(self._flow, index, self._dtype, element_shape=self.element_shape,
                                                 name=name)

    def write(self, index, value, name=None):
        with ops.name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._converted(value)
            self._check_element_shape(value.shape)
            return self._with_flow(list_ops.tensor_list_set_item(
                self._flow, index, value, resize_if_index_out_of_bounds=self._dynamic_size, name=name))

    def stack(self, name=None):
        with ops.name_scope(name, "TensorArrayV2Stack", [self._flow]):
            fixed = tf2.enabled() and not self._dynamic_size and self._size is not None
            return list_ops.tensor_list_stack(
                self._flow, self._dtype, num_elements=tensor_util.constant_value(self._size) if fixed else -1,
                element_shape=self.element_shape)

    def gather(self, indices, name=None):
        return list_ops.tensor_list_gather(self._flow, indices, self._dtype, element_shape=self.element_shape,
                                           name=name)

    def concat(self, name=None):
        shape = None
        if self.element_shape.ndims:
            shape = [None] + self.element_shape.as_list()[1:]
        return list_ops.tensor_list_concat(self._flow, self._dtype, element_shape=shape, name=name)

    def unstack(self, value, name=None):
        with ops.name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._converted(value)
            self._check_element_shape(value.shape[1:])
            return self._with_flow(list_ops.tensor_list_from_tensor(value, element_shape=value.shape[1:]))

    def scatter(self, indices, value, name=None):
        with ops.name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._converted(value)
            self._check_element_shape(value.shape[1:])
            return self._with_flow(list_ops.tensor_list_scatter(
                value, indices, element_shape=self.element_shape, input_handle=self._flow))

    def split(self, value, lengths, name=None):
        with ops.name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._converted(value)
            lengths = math_ops.cast(lengths, dtypes.int64)
            known = tensor_util.constant_value(lengths)
            if value.shape.dims is not None and known is not None and known.shape and known.max() == known.min():
                self._check_element_shape(tensor_shape.TensorShape([known[0]]).concatenate(value.shape[1:]))
            return self._with_flow(list_ops.tensor_list_split(value, element_shape=self.element_shape,
                                                              lengths=lengths, name=name))

    def size(self, name=None):
        if not self._dynamic_size and self._size is not None:
            return ops.convert_to_tensor(self._size, dtype=dtypes.int32)
        return gen.tensor_list_length(self._flow, name=name)

    def close(self, name=None):
        return control_flow_ops.no_op(name=name)

    def identity(self):
        return self._with_flow(array_ops.identity(self._flow))
