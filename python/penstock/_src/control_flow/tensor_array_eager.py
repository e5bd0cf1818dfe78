"""TensorArray where ops run as they are called: a list of tensors."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow.tensor_array_ops import TensorArray, _check_type


def _number(value):
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


class EagerTensorArray(TensorArray):
    """Writing changes the array itself and returns it."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._handle = None
        self._flow = constant_op.constant(0, dtype=dtypes.int32)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._element_shape = [tensor_shape.as_shape(element_shape)]
        self._colocate_with_first_write_call = colocate_with_first_write_call
        self._dynamic_size = dynamic_size or False
        self._clear_after_read = True if clear_after_read is None else clear_after_read
        self._read = set()
        self._elements = [None] * _number(size)

    def _with_flow(self, flow):
        return self

    def identity(self):
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly; eager's gradient "
                                  "implementation does not use/need this function to compute gradients of operations "
                                  "that use TensorArrays.")

    def _element(self, index):
        """The element, zeros if it was never written."""
        if self._elements[index] is None:
            self._elements[index] = array_ops.zeros(shape=self.element_shape, dtype=self._dtype)
        return self._elements[index]

    def read(self, index, name=None):
        index = _number(index)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._elements):
            raise errors.OutOfRangeError(
                None, None, f"Tried to read from index {index} but array size is: {len(self._elements)}")
        if self._elements[index] is None and index in self._read:
            raise errors.InvalidArgumentError(
                None, None, f"Could not read index {index} twice because it was cleared after a previous read (perhaps "
                "try setting clear_after_read = false?)")
        result = self._element(index)
        if self._clear_after_read:
            self._elements[index] = None
            self._read.add(index)
        return result

    def write(self, index, value, name=None):
        index = _number(index)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        size = len(self._elements)
        if index >= size:
            if not self._dynamic_size:
                raise errors.OutOfRangeError(None, None, f"Tried to write to index {index} but array is not resizeable "
                                             f"and size is: {size}")
            self._elements.extend([None] * (index - size + 1))
        value = ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if self._dtype != value.dtype:
            raise errors.InvalidArgumentError(None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying "
                                              f"to write dtype {value.dtype.name}")
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})")
        self._check_element_shape(value.shape)
        self._elements[index] = value
        return self

    def stack(self, name=None):
        if not self._elements:
            rest = self.element_shape.as_list() if self.element_shape.is_fully_defined() else []
            return array_ops.zeros([0, *rest], self._dtype)
        return array_ops.stack([self._element(i) for i in range(len(self._elements))], name=name or "stack")

    def gather(self, indices, name=None):
        indices = indices.numpy() if hasattr(indices, "numpy") else indices
        return array_ops.stack([self._element(int(i)) for i in indices])

    def concat(self, name=None):
        elements = [self._element(i) for i in range(len(self._elements))]
        for i, element in enumerate(elements):
            if element.shape.ndims == 0:
                raise errors.InvalidArgumentError(
                    None, None, f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        return array_ops.concat(elements, 0, name=name or "concat")

    def unstack(self, value, name=None):
        tensors = array_ops.unstack(value, name=name or "unstack")
        if len(tensors) > len(self._elements) and not self._dynamic_size:
            raise ValueError(f"Cannot unstack {len(tensors)} tensors into a TensorArray of static size "
                             f"{len(self._elements)}")
        self._elements = list(tensors)
        return self

    def scatter(self, indices, value, name=None):
        indices = indices.numpy() if hasattr(indices, "numpy") else indices
        for index, part in zip(indices, array_ops.unstack(value)):
            self.write(index, part)
        return self

    def split(self, value, lengths, name=None):
        value = ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        _check_type(value, self._dtype)
        lengths = ops.convert_to_tensor(lengths)
        total = int(math_ops.reduce_sum(lengths).numpy())
        if lengths.shape.ndims != 1:
            why = f"Expected lengths to be a vector, received shape: {lengths.shape.as_list()}"
        elif value.shape.ndims == 0:
            why = f"Expected value to be at least a vector, but received shape: {value.shape.as_list()}"
        elif total != value.shape.as_list()[0]:
            why = (f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and value's "
                   f"shape is: {value.shape.as_list()} ")
        elif not self._dynamic_size and lengths.shape.as_list()[0] != len(self._elements):
            why = (f"TensorArray's size is not equal to the size of lengths ({len(self._elements)} vs. "
                   f"{lengths.shape.as_list()[0]}), and the TensorArray is not marked as dynamically resizeable")
        else:
            self._elements = list(array_ops.split(value, lengths, name=name or "split"))
            return self
        raise errors.InvalidArgumentError(None, None, why)

    def size(self, name=None):
        return constant_op.constant(len(self._elements))

    def close(self, name=None):
        del self._elements[:]
