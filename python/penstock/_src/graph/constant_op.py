"""tf.constant, and how Python values become tensors."""
import collections.abc
import operator
from typing import Any

import numpy as np

from penstock import _core
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph import numpy_sequences
from penstock._src.graph import tensor_values
from penstock._src.base import tf2
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor import Tensor, is_dense_tensor_like
from penstock._src.base import hooks

_generated, _list_of_tensors = hooks.Hook("generated"), hooks.Hook("list_of_tensors")


def constant_v1(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant tensor.

    value: a number, string, nested lists of them, or an array. If it has fewer elements than `shape`, the last one
    fills the rest, unless `verify_shape` (then TypeError). ValueError if it has more.
    """
    return _constant(value, dtype, shape, name, verify_shape, False)


def constant(value, dtype=None, shape=None, name="Const"):
    """A constant tensor; a scalar is broadcast to `shape`. TypeError if the value does not fit the shape."""
    return _constant(value, dtype, shape, name, False, True)


def _constant(value, dtype, shape, name, verify_shape, allow_broadcast):
    if hasattr(value, "tensor_shape") and hasattr(value, "SerializeToString"):
        tensor = _core.tensor_from_proto(value.SerializeToString())
    else:
        if isinstance(shape, tensor_shape.TensorShape):
            shape = shape.as_list()
        elif isinstance(shape, (int, np.integer)):
            shape = [shape]
        elif isinstance(shape, np.ndarray):
            shape = shape.tolist()
        if defaults.get_default_graph()._eager:
            return _eager_constant(value, dtype, shape)
        values, dtype, shape = tensor_values.to_array(value, dtype, shape, verify_shape, allow_broadcast)
        if values.size * values.itemsize >= 1 << 31:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        tensor = _core.tensor_from_numpy(tensor_values.filled(values, shape), dtype._type_enum)
    graph = defaults.get_default_graph()
    if graph._eager:
        return _core.eager_from_core(tensor)
    return graph._new_op("Const", (), name or "Const", {"value": tensor, "dtype": tensor.dtype})._outputs[0]


def _without_tensors(value):
    """Nested lists with the values of eager tensors in their place."""
    if isinstance(value, Tensor) and value._is_eager:
        return value._as_array()
    if isinstance(value, (list, tuple)) and not all(type(item) in _PLAIN_TYPES for item in value):
        return [_without_tensors(item) for item in value]
    if isinstance(value, tensor_shape.Dimension) and value.value is not None:
        return value.value
    if type(value) not in _PLAIN_TYPES and _is_sequence(value):
        return [_without_tensors(item) for item in value]
    return value


def _is_sequence(value):
    """Whether Python takes it for a sequence, and it is neither text nor an array."""
    if isinstance(value, (list, tuple, str, bytes, dict, Tensor)) or hasattr(value, "__array__"):
        return False
    return isinstance(value, collections.abc.Sequence) or not isinstance(value, type) and all(
        hasattr(value, name) for name in ("__getitem__", "__len__", "__iter__"))


def _refusal(value, dtype, error):
    """What eager execution raises where a value becomes no array: TensorFlow's converter has words of its own."""
    if value is None:
        return ValueError(f"Attempt to convert a value (None) with an unsupported type ({type(None)}) to a Tensor.")
    if dtype is not None and not isinstance(value, (np.ndarray, np.generic)):  # what is of no type is told first
        try:
            tensor_values.to_array(value, None, None, False, True)
        except (TypeError, ValueError) as e:
            if all(leaf is not None for leaf in tensor_values.leaves(value)):
                return _refusal(value, None, e)
    leaves = []
    stack, depths = [(value, 0)], set()
    while stack:
        item, depth = stack.pop()
        if isinstance(item, (list, tuple)):
            stack.extend((x, depth + 1) for x in item)
        else:
            leaves.append(item)
            depths.add(depth)
    if isinstance(error, tensor_values.UnsupportedValue):
        if any(type(leaf) is int and abs(leaf) >= 2**63 for leaf in leaves):
            return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
        if isinstance(value, np.ndarray):
            return ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type "
                              f"{type(error.value).__name__}).")
        if len({type(leaf) for leaf in leaves}) == 1:
            return ValueError(f"Attempt to convert a value ({error.value!r}) with an unsupported type "
                              f"({type(error.value)}) to a Tensor.")
        return ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if isinstance(value, (np.ndarray, np.generic)) and isinstance(error, TypeError) and dtype is None:
        return ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {value.dtype}).")
    if isinstance(value, (list, tuple)) and any(leaf is None for leaf in leaves):
        return ValueError(f"Attempt to convert a value (None) with an unsupported type ({type(None)}) to a Tensor.")
    if isinstance(error, TypeError) and dtype is not None:
        bad = tensor_values.misfit(value, dtype)
        return error if bad is None else TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {dtypes.text_of(dtype)}")
    if isinstance(error, ValueError) and isinstance(error.__context__, OverflowError):
        return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if isinstance(error, ValueError) and "dense tensor" in str(error):
        first, depth = value, 0  # what the first leaf is, lists behind it must not go below
        while isinstance(first, (list, tuple)) and first:
            first, depth = first[0], depth + 1
        return ValueError("Can't convert non-rectangular Python sequence to Tensor." if max(depths) <= depth else
                          "Can't convert Python sequence with mixed types to Tensor.")
    return error


_scalars: dict[tuple, Any] = {}  # (value, its type, requested type) -> tensor: programs use few numbers many times


def _eager_scalar(value, dtype):
    key = value, type(value), dtype
    found = _scalars.get(key)
    if found is None:
        try:
            values, asked, _ = tensor_values.to_array(value, dtype, None, False, True)
        except (TypeError, ValueError) as e:
            raise _refusal(value, None if dtype is None else dtypes.as_dtype(dtype).base_dtype, e) from None
        if dtype is None and asked == dtypes.uint64:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
        found = _core.eager_from_numpy(values, asked._type_enum)
        if value or type(value) is int:  # 0.0 and -0.0 are equal as keys
            if len(_scalars) >= 1000:
                _scalars.clear()
            _scalars[key] = found
    return _core.eager_alias(found)


# Eager execution makes nothing of these types of Python's bools.
_NOT_OF_BOOLS = frozenset(t._type_enum for t in (
    dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.uint32, dtypes.bfloat16, dtypes.complex64))


def _refuse_bools(value, dtype):
    first = value
    while type(first) in (list, tuple) and first:
        first = first[0]
    if type(first) is bool:
        if len(tensor_values.leaf_types(value)) > 1:
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtypes.text_of(dtype)}")


def _eager_constant(value, dtype, shape):
    if shape is not None:
        shape = [operator.index(size) for size in shape]
    if dtype is not None and dtypes.as_dtype(dtype)._base in _NOT_OF_BOOLS:
        _refuse_bools(value, dtypes.as_dtype(dtype).base_dtype)
    if dtype is not None and dtypes.as_dtype(dtype).is_quantized and {int}.issuperset(tensor_values.leaf_types(value)):
        kind = dtypes.as_dtype(dtype).as_numpy_dtype  # in graphs the elements are tuples of one integer
        value = _eager_constant(value, dtypes.int64, None)._as_array().astype(kind[0]).view(kind)
    if shape is None and type(value) in (int, float):
        return _eager_scalar(value, dtype)
    if isinstance(value, Tensor):
        result = _eager_tensor_constant(value, dtype)
    elif type(value) in (list, tuple) and (made := _core.eager_from_python(
            value, 0 if dtype is None else dtypes.as_dtype(dtype).base_dtype._type_enum)) is not None:
        result = made
    else:
        dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if isinstance(value, (list, tuple)) and numpy_sequences.holds_numpy(value):
            value = numpy_sequences.to_array(value, dtype)
        value = _without_tensors(value)
        if isinstance(value, dict):
            raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
                             "Tensor.")
        asked = dtype
        if asked is None and isinstance(value, list) and type(next(tensor_values.leaves(value), 0)) is bool \
                and len(tensor_values.leaf_types(value)) > 1:  # the first one gives the type
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        try:
            values, dtype, _ = tensor_values.to_array(value, dtype, None, False, True)
        except (TypeError, ValueError) as e:
            raise _refusal(value, dtype, e) from None
        if asked is None and dtype == dtypes.uint64 and isinstance(value, list):
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
        result = _core.eager_from_numpy(values, dtype._type_enum)
    if shape is None or list(result._dims) == shape:
        return result
    gen = _generated.get()
    total = int(np.prod(shape, dtype=np.int64))
    if result._num_elements() == total:
        return gen.reshape(result, shape)
    if result._num_elements() == 1:
        return gen.fill(shape, gen.reshape(result, []))
    raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {result.numpy()} (converted from "
                    f"{value}) has {result._num_elements()} elements, but got `shape` {tuple(shape)} with {total} "
                    "elements).")


def _eager_tensor_constant(value, dtype):
    if not value._is_eager:
        raise TypeError(f"Cannot make a constant of a tensor of a graph: {value}")
    if dtype is not None and dtypes.as_dtype(dtype) != value.dtype:
        raise TypeError(f"Expected tensor with type {dtypes.as_dtype(dtype)!r} not {value.dtype!r}")
    return value


def is_constant(tensor_or_op):
    """Whether it is a Const operation or its output."""
    return (tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op).type == "Const"


def _constant_tensor_conversion_function(v, dtype=None, name=None, as_ref=False):
    return constant(v, dtype=dtype, name=name)


def _index_type(dtype, big, what, text):
    if dtype is None:
        return dtypes.int64 if big else dtypes.int32
    if dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert {text} to dtype {dtype!r}. Allowed dtypes are tf.int32 and tf.int64."
                        if tf2.enabled() else f"Cannot convert a TensorShape to dtype: {dtype}")
    if dtype == dtypes.int32 and big:
        raise ValueError(f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({what})")
    return dtype


def _tensor_shape_tensor_conversion_function(s, dtype=None, name=None, as_ref=False):
    if not s.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {s}")
    sizes = s.as_list()
    big = next((d for d in sizes if d >= 2**31), 0)
    return constant(sizes, dtype=_index_type(dtype, big, big, f"TensorShape {s}"), name=name or "shape_as_tensor")


def _dimension_tensor_conversion_function(d, dtype=None, name=None, as_ref=False):
    if d.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {d}")
    return constant(d.value, dtype=_index_type(dtype, False, d, f"Dimension {d}"), name=name or "shape_as_tensor")


def _operation_conversion_error(op, dtype=None, name=None, as_ref=False):
    raise TypeError(f"can't convert Operation '{op.name}' to Tensor" if tf2.enabled() else
                    f"Can't convert Operation '{op.name}' to Tensor (target dtype={dtype!r}, name={name!r}, "
                    f"as_ref={as_ref!r})")


conversion.register_tensor_conversion_function((list, tuple), _constant_tensor_conversion_function, 100)
conversion.register_tensor_conversion_function(Operation, _operation_conversion_error, 100)

_PLAIN_TYPES = {*np.sctypeDict.values(), int, float, complex, bool, bytes, str, memoryview, np.ndarray}


def _has_tensor(values):
    return any(_has_tensor(x) if isinstance(x, (list, tuple)) else is_dense_tensor_like(x)
               for x in values if type(x) not in _PLAIN_TYPES)


def _list_with_tensors_conversion_function(v, dtype=None, name=None, as_ref=False):
    if as_ref or not _has_tensor(v):
        return NotImplemented
    return _list_of_tensors(v, dtype, name)


conversion.register_tensor_conversion_function((list, tuple), _list_with_tensors_conversion_function, 99)
conversion.register_tensor_conversion_function(object, _constant_tensor_conversion_function, 200)
conversion.register_tensor_conversion_function(tensor_shape.TensorShape, _tensor_shape_tensor_conversion_function, 100)
conversion.register_tensor_conversion_function(tensor_shape.Dimension, _dimension_tensor_conversion_function, 100)
