"""EagerTensor: a tensor that has its value."""
from typing import Any

import numpy as np

from penstock import _core
from penstock._src.graph import core as _core_module  # noqa: F401  (connects the errors)
from penstock._src.graph import device_numbers
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.graph.tensor import Tensor
from penstock._src.base import hooks


# What the buffer protocol can say.
_BUFFERS = frozenset(t._type_enum for t in (
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
    dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.bool, dtypes.complex64, dtypes.complex128))


def _meaningless(name):
    def get(self):
        raise AttributeError(f"Tensor.{name} is {'undefined' if tf2.enabled() else 'meaningless'} when eager execution "
                             "is enabled.")
    return property(get, doc="Only tensors of graphs have it.")


_constant_on = hooks.Hook("constant_on_device")


class EagerTensor(Tensor, _core.EagerTensorBase):
    """A value, made by an op that ran or by a constant."""

    def __new__(cls, value, device, dtype=None):
        """A constant on a device, by the device's name; `dtype`: a DType or its number."""
        if dtype is not None and not isinstance(dtype, (int, dtypes.DType)):
            raise TypeError(f"Expecting a DataType value for dtype. Got {type(dtype).__name__}")
        return _constant_on(device, value, dtype)

    def __init__(self, value, device, dtype=None):
        """It is complete already."""

    _is_eager = True
    _dtype = _core.EagerTensorBase._dtype  # Tensor keeps it in the instance

    op = _meaningless("op")
    graph = _meaningless("graph")
    name = _meaningless("name")
    value_index = _meaningless("value_index")

    @property
    def dtype(self):
        """The type of its elements."""
        return self._dtype

    @property
    def shape(self):
        """The shape."""
        return tensor_shape.TensorShape._from_core(self._dims)

    def get_shape(self):
        """The shape."""
        return tensor_shape.TensorShape._from_core(self._dims)

    _shape = shape

    def set_shape(self, shape):
        """ValueError if the shape is another one."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape "
                             f"{tensor_shape.as_shape(shape)}.")

    def _shape_as_list(self):
        return list(self._dims)

    def _shape_tuple(self):
        return self._dims

    def _rank(self):
        return len(self._dims)

    def _datatype_enum(self):
        return self._type_enum

    @property
    def _id(self):
        return self._eager_id

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self._dims)

    @property
    def device(self):
        """The name of the device that holds it."""
        return _core.eager_device_name(self)

    @property
    def backing_device(self):
        """The name of the device that holds its memory."""
        return _core.eager_device_name(self)

    @property
    def is_packed(self):
        """Whether it stands for values on several devices; never."""
        return False

    @property
    def _handle_data(self):
        return None

    def consumers(self):
        raise NotImplementedError("consumers() is not supported when eager execution is enabled.")

    def eval(self, feed_dict=None, session=None):
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're "
                                  "looking for?")

    def numpy(self):
        """The value: an array of its own, or a NumPy scalar. InvalidArgumentError for resources and variants."""
        self._refuse_handles()
        return _core.eager_numpy(self)

    def _holds_handles(self):
        return self._type_enum in (dtypes.resource._type_enum, dtypes.variant._type_enum)

    def _refuse_handles(self):
        if self._holds_handles():
            from penstock._src.graph import errors
            raise errors.InvalidArgumentError(
                None, None, f"Cannot convert a Tensor of dtype {self.dtype.name} to a NumPy array.")

    _numpy = numpy

    def _as_array(self):
        return np.asarray(_core.eager_numpy(self), dtype=object if self.dtype == dtypes.string else None)

    def __array__(self, dtype=None, copy=None):
        if self._type_enum in _BUFFERS and not copy:
            array = np.asarray(memoryview(self))  # type: ignore[arg-type]
        else:
            self._refuse_handles()
            array = self._as_array()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, stream=None, **unused):
        return _core.eager_to_dlpack(self)

    def __dlpack_device__(self):
        return 1, 0  # host memory

    def __len__(self):
        if not self._dims:
            raise TypeError("Scalar tensor has no `len()`")
        return self._dims[0]

    def __iter__(self):
        if not self._dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        elements: Any = self
        return iter([elements[i] for i in range(self._dims[0])])

    def __bool__(self):
        self._refuse_handles()
        return self._num_elements() != 0 and bool(self._numpy())

    def __int__(self):
        return int(self._numpy())

    def __float__(self):
        return float(self._numpy())

    def __complex__(self):
        return complex(self._numpy())

    def __index__(self):
        if self._dims or not self.dtype.is_integer:
            raise TypeError("only integer scalar tensors can be converted to a scalar index")
        return int(self._numpy())

    def __round__(self, digits=None):
        return round(self._numpy(), digits)

    def __format__(self, spec):
        return format(self._text_of_handles() if self._holds_handles() else self._numpy(), spec)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        self._refuse_handles()
        return _rebuild, (_core.eager_to_core(self).proto(),)

    def _compares_elements(self):
        return mode.tensor_equality

    __hash__ = Tensor.__hash__
    __eq__ = Tensor.__eq__
    __ne__ = Tensor.__ne__

    def cpu(self):
        """The value on the first host device."""
        return self._copy(device_name="/cpu:0")

    def gpu(self, gpu_index=0):
        """The value on a GPU. InvalidArgumentError if there is none."""
        return self._copy(device_name=f"/gpu:{gpu_index}")

    def _copy(self, ctx=None, device_name=None):
        number = device_numbers.device_number(device_name or self.device)
        copy = _core.eager_alias(self, number)
        if _core.tape_is_active():
            _core.tape_record([self], [copy], lambda dys: dys)
        return copy

    def _text(self, is_repr):
        if self._holds_handles():
            return self._text_of_handles()
        value = self._numpy()
        if not self._dims and hasattr(value, "item"):
            return repr(value.item()) if is_repr else str(value)  # a number, without NumPy's name for its type
        text = repr(value) if is_repr else str(value)
        return "\n" + text if "\n" in text else text

    def _text_of_handles(self):
        texts = np.empty(self._num_elements(), object)
        texts[:] = [_Text(text) for text in _core.eager_handle_texts(self)]
        return str(texts.reshape(self._dims)) if self._dims else texts[0]

    def __str__(self):
        return f"tf.Tensor({self._text(False)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {self._value_text()}>"

    def _value_text(self):
        return f"{'value' if self._holds_handles() else 'numpy'}={self._text(True)}"


class _Text(str):
    """Text that an array shows as it is."""

    __repr__ = str.__str__


def _rebuild(proto):
    return _core.eager_from_core(_core.tensor_from_proto(proto))


_core.set_eager_tensor_class(EagerTensor, {n: t for n, t in dtypes._INTERN_TABLE.items()})
