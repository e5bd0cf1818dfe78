"""NumPy's types under their names, and which type Python's floats have."""
import numpy as np

from penstock._src.graph import dtypes

bool_ = np.bool_
complex64 = np.complex64
complex128 = complex_ = np.complex128
float16 = np.float16
float32 = np.float32
float64 = float_ = np.float64
inexact = np.inexact
int_ = np.int_
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
object_ = np.object_
string_ = np.bytes_
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
unicode_ = np.str_
iinfo = np.iinfo
issubdtype = np.issubdtype

_NARROW = {np.dtype("float64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("complex64")}
_prefer_float32 = False
_allow_float64 = True


def is_prefer_float32():
    """Whether Python's floats are float32."""
    return _prefer_float32


def set_prefer_float32(b):
    """Whether Python's floats shall be float32."""
    global _prefer_float32
    _prefer_float32 = b


def is_allow_float64():
    """Whether results may be float64 and complex128."""
    return _allow_float64


def set_allow_float64(b):
    """Whether results may be float64 and complex128."""
    global _allow_float64
    _allow_float64 = b


def canonicalize_dtype(dtype):
    """The NumPy type, or the narrower one if float64 is not allowed."""
    return dtype if _allow_float64 else _NARROW.get(dtype, dtype)


def default_float_type():
    """The NumPy type of a float that nothing else is known of."""
    return float64 if _allow_float64 and not _prefer_float32 else float32


def _as_preferred(x):
    if _prefer_float32 and isinstance(x, float):
        return np.float32(x)
    if _prefer_float32 and isinstance(x, complex):
        return np.complex64(x)
    return x


def _result_type(*arrays_and_dtypes):
    """NumPy's result type of arrays, numbers and types, as a DType."""
    return dtypes.as_dtype(canonicalize_dtype(np.result_type(*[_as_preferred(x) for x in arrays_and_dtypes])))
