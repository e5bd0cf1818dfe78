"""The array class, which is Tensor, and what makes arrays of other values."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.numpy import np_dtypes, np_utils

ndarray = ops.Tensor


def convert_to_tensor(value, dtype=None, dtype_hint=None):
    """`value` as a tensor; Python's floats get NumPy's type and integers that need it uint64.

    dtype: the type; dtype_hint: the type if `value` can be converted to it.
    """
    if dtype is None and isinstance(value, int) and value >= 2**63:
        dtype = dtypes.uint64
    elif dtype is None and dtype_hint is None and isinstance(value, float):
        dtype = np_dtypes.default_float_type()
    return ops.convert_to_tensor_v2(value, dtype=dtype, dtype_hint=dtype_hint)


def _dtype(dtype):
    """A type given by the caller as a DType; None and the like stay."""
    return np_utils.result_type(dtype) if dtype else dtype


def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of `val` (numbers, arrays, tensors, lists of them), cast to `dtype` or NumPy's type for them, with at
    least `ndmin` dimensions. ValueError if `ndmin` is above 32."""
    return _array_internal(val, _dtype(dtype), copy, ndmin)


def _array_internal(val, dtype=None, copy=True, ndmin=0):
    if ndmin > 32:
        raise ValueError("ndmin bigger than allowable number of dimensions: 32.")
    result = val
    if not isinstance(val, ops.Tensor):
        dtype = np_utils.result_type_unary(val, dtype)
        result = convert_to_tensor(val, dtype_hint=dtype)
    if dtype:
        result = math_ops.cast(result, dtype)
    if copy:
        result = array_ops.identity(result)
    return _atleast(ndmin, result) if ndmin else result


def asarray(a, dtype=None):
    """`a` as a tensor of that type; a tensor that has it already is returned itself."""
    dtype = _dtype(dtype)
    if isinstance(a, ops.Tensor) and (not dtype or dtype == a.dtype):
        return a
    return _array_internal(a, dtype, copy=False)


def asanyarray(a, dtype=None):
    """The same as `asarray`."""
    return asarray(a, dtype)


def ascontiguousarray(a, dtype=None):
    """`a` as a tensor of at least one dimension."""
    return array(a, dtype, ndmin=1)


def copy(a):
    """A tensor with the value of `a`."""
    return array(a, copy=True)


def _promote_dtype(*arrays):
    dtype = np_utils.result_type(*arrays)
    return [asarray(a, dtype) for a in arrays]


def _promote_dtype_binary(t1, t2):
    dtype = np_utils._result_type_binary(t1, t2)
    return asarray(t1, dtype), asarray(t2, dtype)


def _pad_left_to(n, old_shape):
    """A shape with sizes of 1 before it, so that it has at least n."""
    old_shape = asarray(old_shape, np.int32)
    return array_ops.pad(old_shape, [[gen.maximum(n - array_ops.size(old_shape), 0), 0]], constant_values=1)


def _atleast(n, a):
    a = asarray(a)
    if a.shape.rank is not None and a.shape.rank >= n:
        return a
    return array_ops.reshape(a, _pad_left_to(n, array_ops.shape(a)))
