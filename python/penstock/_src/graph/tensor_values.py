"""Python values as NumPy arrays of the type that TensorFlow gives them."""
import sys

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat

# Of larger numbers that an int64 holds the lower bits are taken.
_WRAPPING = frozenset((np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.uint64))
_ACCEPTED = {
    "bool": (bool, np.bool_),
    "complex": compat.complex_types,
    "float": compat.real_types,
    "int": compat.integral_types + (tensor_shape.Dimension,),
    "string": compat.bytes_or_text_types,
}


def _kind(dtype):
    if dtype.is_integer:
        return "int"
    if dtype.is_floating:
        return "float"
    if dtype.is_complex:
        return "complex"
    return {"bool": "bool", "string": "string"}.get(dtype.name)


def leaves(values):
    """The leaves of nested lists, tuples and dicts."""
    if isinstance(values, (list, tuple)):
        for item in values:
            yield from leaves(item)
    elif isinstance(values, dict):
        for key in sorted(values):
            yield from leaves(values[key])
    else:
        yield values


def leaf_types(values):
    """The types of the leaves of nested lists, tuples and dicts: few, however many leaves there are. RecursionError for
    what holds itself."""
    found = set()
    stack: list[tuple] = [((values,), 0)]
    while stack:
        items, depth = stack.pop()
        if depth > sys.getrecursionlimit():
            raise RecursionError("a list, tuple or dict is nested too deep, or holds itself")
        types = set(map(type, items))
        nested = {t for t in types if issubclass(t, (list, tuple, dict))}
        found |= types - nested
        if nested:
            stack.extend((item.values() if isinstance(item, dict) else item, depth + 1)
                         for item in items if type(item) in nested)
    return found


def _first_misfit(values, dtype):
    """(True, leaf) for the first leaf of `values` that has no place in a tensor of `dtype`, else (False, None)."""
    if dtype is not None and dtype.is_quantized:
        return _first_quantized_misfit(values)
    accepted = None if dtype is None else _ACCEPTED.get(_kind(dtype))

    def fits(leaf_type):
        return issubclass(leaf_type, accepted) if accepted else not issubclass(leaf_type, Tensor)

    if all(map(fits, leaf_types(values))):
        return False, None
    return next((True, leaf) for leaf in leaves(values) if not fits(type(leaf)))


def _first_quantized_misfit(values):
    """Elements of quantized tensors are written as tuples of one integer."""
    if isinstance(values, tuple):
        return _first_misfit(list(values), dtypes.int32)
    if not isinstance(values, list):
        return True, values
    for item in values:
        bad, leaf = _first_quantized_misfit(item)
        if bad:
            return bad, leaf
    return False, None


def misfit(values, dtype):
    """[leaf] of a leaf of `values` that has no place in a tensor of `dtype`, or None."""
    bad, leaf = _first_misfit(values, dtype)
    return [leaf] if bad else None


def check_compatible(values, dtype):
    """TypeError if a leaf of `values` has no place in a tensor of `dtype` (None: of any type)."""
    kind = type(values)
    if dtype is not None and (dtype.is_floating and kind in (int, float) or dtype.is_integer and kind is int):
        return
    bad, leaf = _first_misfit(values, dtype)
    if bad:
        if dtype is None:
            raise TypeError("List of Tensors when single Tensor expected")
        raise TypeError(f"Expected {dtype.name}, got {leaf!r} of type '{type(leaf).__name__}' instead.")


def _is_array_like(value):
    if isinstance(value, Tensor):
        return False
    if callable(getattr(value, "__array__", None)) or isinstance(getattr(value, "__array_interface__", None), dict):
        return True
    if isinstance(value, (bytes, str, list, tuple, int, float)):
        return False
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _dense_dimensions(values):
    found = []
    while isinstance(values, (list, tuple)):
        found.append(len(values))
        if not values:
            break
        values = values[0]
    return found


def _with_numbers(values):
    """Nested lists with numbers in the place of arrays without dimensions."""
    if isinstance(values, (list, tuple)):
        return list(map(_with_numbers, values))
    return values[()] if isinstance(values, np.ndarray) and not values.shape else values


def _nested_to_array(values, dtype, quantized):
    """An array of a Python number, string, or nested lists of them."""
    np_dtype = dtype.as_numpy_dtype if dtype is not None and dtype.is_numpy_compatible else None
    if not quantized and np.ndarray in leaf_types(values):
        values = _with_numbers(values)
    check_compatible(values, dtype)
    try:
        if isinstance(values, (bytes, str)):
            array = np.empty([], object)
            array[()] = values
        elif dtype is not None and dtype._base == 14 and not isinstance(np_dtype, type):
            array = bfloat16_bits(np.array(values, np.float32))
        else:
            with np.errstate(over="ignore"):  # numbers beyond a type's range are infinite
                array = np.array(values, dtype=np_dtype)
    except UnicodeDecodeError:  # bytes among strings
        array = np.array(values, dtype=object)
    except OverflowError as e:
        try:
            if np_dtype in _WRAPPING:
                return np.array(values, dtype=np.int64).astype(np_dtype)
        except OverflowError:
            pass
        raise ValueError(f"{e} (as {dtype.name if dtype else 'a number'})") from None
    except ValueError as e:
        if "inhomogeneous" not in str(e) and "sequence" not in str(e):
            raise
        raise ValueError(f"Argument must be a dense tensor: {values} - rows differ in length") from None
    wanted = _dense_dimensions(values)
    if list(array.shape) != wanted and not quantized:
        raise ValueError(f"Argument must be a dense tensor: {values} - got shape {list(array.shape)}, but wanted "
                         f"{wanted}.")
    if array.dtype.kind in "SU" and dtype is None:
        array = np.array(values, dtype=object)
    return array


def bfloat16_bits(array):
    """A float32 array rounded to bfloat16, as NumPy's type for it."""
    if isinstance(dtypes.np_bfloat16, type):
        return array.astype(dtypes.np_bfloat16)
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    rounded = np.where(np.isnan(array), np.uint16(0x7FC0), rounded).astype(np.uint16)
    return rounded.reshape(np.shape(array)).view(dtypes.np_bfloat16)


def narrowed(array):
    """The array; of int32 if it is of int64 and its numbers fit."""
    if array.dtype != np.int64:
        return array
    small = array.astype(np.int32)
    return small if np.array_equal(small, array) else array


def to_array(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """(array, DType, shape) of a tensor with these values; the array has the shape, or fewer elements, the last of
    which then stands for all that follow.

    Python floats become float32 and integers int32 where they fit, unless `dtype` says otherwise. TypeError, ValueError
    as make_tensor_proto.
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    quantized = dtype is not None and dtype.is_quantized
    if isinstance(values, range):
        values = list(values)
    if _is_array_like(values):
        values = np.asarray(values)
    if isinstance(values, (np.ndarray, np.generic)):
        array = np.asarray(values)
        if dtype is not None and dtype.is_numpy_compatible and array.dtype != dtype.as_numpy_dtype:
            if dtype._base == 14 and not isinstance(dtypes.np_bfloat16, type):
                array = bfloat16_bits(array.astype(np.float32))
            else:
                array = array.astype(dtype.as_numpy_dtype)
    elif values is None:
        raise ValueError("None values not supported.")
    else:
        if shape is not None and np.prod(shape, dtype=np.int64) == 0:
            array = np.empty(shape, dtype.as_numpy_dtype if dtype is not None else None)
        else:
            array = _nested_to_array(values, dtype, quantized)
        if dtype is None and array.dtype == np.float64:
            array = array.astype(np.float32)
        elif dtype is None:
            array = narrowed(array)
    found = dtype if quantized else dtypes.as_dtype(array.dtype)
    if dtype is not None and dtype != found:
        raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {values}")
    if found == dtypes.string and array.size:
        _check_strings(array, values)
    if shape is None:
        return array, found, array.shape
    shape = tuple(int(d) for d in shape)
    size = int(np.prod(shape, dtype=np.int64))
    if allow_broadcast:
        if array.shape not in ((), (1,)) and array.size != size:
            raise TypeError(f"Expected Tensor's shape: {shape}, but got {array.shape}.")
    else:
        if verify_shape and array.shape != shape:
            raise TypeError(f"Expected Tensor's shape: {shape}, got {array.shape}.")
        if array.size > size:
            raise ValueError(f"Too many elements provided. Needed at most {size}, but received {array.size}")
    return array, found, shape


class UnsupportedValue(TypeError):
    """A value that no tensor can hold; `value` is the leaf that is to blame."""

    def __init__(self, message, value):
        super().__init__(message)
        self.value = value


def _check_strings(array, values):
    if array.dtype.kind == "O":
        for x in array.ravel():
            if not isinstance(x, (str, bytes, bytearray)):
                raise UnsupportedValue(
                    f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type. "
                    "See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."
                    if tf2.enabled() else
                    f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}. Consider casting "
                    "elements to a supported type.", x)


def filled(array, shape):
    """The array in its full shape, the last element repeated where it has too few."""
    if array.shape == tuple(shape):
        return array
    size = int(np.prod(shape, dtype=np.int64))
    flat = array.ravel()
    if flat.size < size:
        if flat.size == 0:
            raise ValueError("no value to fill the tensor with")
        if flat.size == 1:
            return np.broadcast_to(flat.reshape(()), shape)
        flat = np.concatenate([flat, np.full(size - flat.size, flat[-1], flat.dtype)])
    return flat.reshape(shape)
