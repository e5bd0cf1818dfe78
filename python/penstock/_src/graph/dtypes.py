"""Element types: TensorFlow's names, enum numbers and NumPy types."""
import builtins
from typing import Any

import ml_dtypes as _ml_dtypes
import numpy as np

from penstock import _core
from penstock._src.base import tf2


def _quantized(name, base):
    return np.dtype([(name, base)])


np_bfloat16 = _ml_dtypes.bfloat16
_np_qint8, _np_quint8 = _quantized("qint8", np.int8), _quantized("quint8", np.uint8)
_np_qint16, _np_quint16 = _quantized("qint16", np.int16), _quantized("quint16", np.uint16)
_np_qint32 = _quantized("qint32", np.int32)

np_resource = np.dtype([("resource", np.ubyte)])
# One byte for each element.
_SMALL = [(24, "float8_e5m2"), (25, "float8_e4m3fn"), (26, "float8_e4m3fnuz"), (27, "float8_e4m3b11fnuz"),
          (28, "float8_e5m2fnuz"), (29, "int4"), (30, "uint4"), (31, "int2"), (32, "uint2"), (33, "float4_e2m1fn")]


def _small_type(name):
    """ml_dtypes' scalar, or a byte in a structure where the installed one is older than the type."""
    return getattr(_ml_dtypes, name, None) or _quantized(name, np.uint8)


# Types that the runtime does not know as NumPy's.
for _enum, _type in [(11, _np_qint8), (12, _np_quint8), (13, _np_qint32), (15, _np_qint16), (16, _np_quint16),
                     (14, np_bfloat16)] + [(number, _small_type(name)) for number, name in _SMALL]:
    _core.register_numpy_dtype(_enum, np.dtype(_type))

# enum number, name, NumPy type
_TABLE = [
    (1, "float32", np.float32), (2, "float64", np.float64), (3, "int32", np.int32), (4, "uint8", np.uint8),
    (5, "int16", np.int16), (6, "int8", np.int8), (7, "string", object), (8, "complex64", np.complex64),
    (9, "int64", np.int64), (10, "bool", np.bool_), (11, "qint8", _np_qint8), (12, "quint8", _np_quint8),
    (13, "qint32", _np_qint32), (14, "bfloat16", np_bfloat16), (15, "qint16", _np_qint16),
    (16, "quint16", _np_quint16), (17, "uint16", np.uint16), (18, "complex128", np.complex128),
    (19, "float16", np.float16), (20, "resource", np_resource), (21, "variant", None), (22, "uint32", np.uint32),
    (23, "uint64", np.uint64),
] + [(number, name, _small_type(name)) for number, name in _SMALL]
_TYPE_TO_STRING = {number: name for number, name, _ in _TABLE}
_TYPE_TO_STRING.update({number + 100: name + "_ref" for number, name, _ in _TABLE})
_TF_TO_NP = {number: kind for number, _, kind in _TABLE if kind is not None}
_INTEGERS = frozenset({3, 4, 5, 6, 9, 17, 22, 23, 29, 30, 31, 32})
_FLOATS = frozenset({1, 2, 14, 19, 24, 25, 26, 27, 28, 33})
_QUANTIZED = frozenset({11, 12, 13, 15, 16})
_NO_LIMITS = _QUANTIZED | {7, 8, 10, 18, 20, 21}
_ML_TYPES = {14} | {number for number, name in _SMALL if hasattr(_ml_dtypes, name)}


class DType:
    """The type of a tensor's elements. There is one object for each type; references are types of their own."""

    __slots__ = ("_type_enum", "_base", "_is_ref_dtype", "_handle_data", "__weakref__")

    def __init__(self, type_enum, handle_data=None):
        type_enum = int(type_enum)
        self._handle_data = handle_data
        if type_enum not in _TYPE_TO_STRING:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        self._type_enum = type_enum
        self._base = type_enum % 100
        self._is_ref_dtype = type_enum > 100

    @property
    def _as_ref(self):
        """The reference type of the same base."""
        return _INTERN_TABLE[self._base + 100]

    @property
    def base_dtype(self):
        """The type without the reference."""
        return _INTERN_TABLE[self._base]

    @property
    def real_dtype(self):
        """The type of the real part; the type itself if it is not complex."""
        return float32 if self._base == 8 else float64 if self._base == 18 else self

    @property
    def is_numpy_compatible(self):
        """Whether NumPy has arrays of it."""
        return self._base not in (20, 21)

    @property
    def as_numpy_dtype(self):
        """NumPy's type for it."""
        return _TF_TO_NP[self._base]

    @property
    def as_datatype_enum(self):
        """The number in types.proto."""
        return self._type_enum

    @property
    def is_bool(self):
        """Whether it is bool."""
        return self._base == 10

    @property
    def is_integer(self):
        """Whether it is an integer type, quantized ones not counted."""
        return self._base in _INTEGERS

    @property
    def is_floating(self):
        """Whether it is a real floating-point type."""
        return self._base in _FLOATS

    @property
    def is_complex(self):
        """Whether it is complex."""
        return self._base in (8, 18)

    @property
    def is_numeric(self):
        """Whether it is a type of numbers, quantized ones counted."""
        return self.is_integer or self.is_floating or self.is_complex or self.is_quantized

    @property
    def is_quantized(self):
        """Whether it is quantized."""
        return self._base in _QUANTIZED

    @property
    def is_unsigned(self):
        """Whether it is an integer type without negative values."""
        return self._base in (4, 17, 22, 23, 30, 32)

    def _limit(self, which, word):
        if self._base in _NO_LIMITS:
            raise TypeError(f"Cannot find {word} value of {self}.")
        module = _ml_dtypes if self._base in _ML_TYPES else np
        info = module.finfo if self._base in _FLOATS else module.iinfo
        return getattr(info(self.as_numpy_dtype), which)

    @property
    def min(self):
        """The smallest value. TypeError where there is none."""
        return self._limit("min", "minimum")

    @property
    def max(self):
        """The largest value. TypeError where there is none."""
        return self._limit("max", "maximum")

    @property
    def limits(self, clip_negative=True):
        """(min, max) of pixel intensities of this type. ValueError where there are none."""
        if self.as_numpy_dtype not in dtype_range:
            raise ValueError(f"{self} does not have defined limits.")
        low, high = dtype_range[self.as_numpy_dtype]
        return (0 if clip_negative else low), high

    def is_compatible_with(self, other):
        """Whether a tensor of `other` serves where this type is wanted: equal, or a reference to it."""
        other = as_dtype(other)
        return self._type_enum in (other._type_enum, other._base)

    def is_subtype_of(self, other):
        """Whether the two are the same."""
        return self == other

    def most_specific_common_supertype(self, types):
        """This type, if it is all the others; otherwise None."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other):
        if self is other:
            return True
        if other is None:
            return False
        try:
            return self._type_enum == as_dtype(other)._type_enum
        except TypeError:
            return False

    def __ne__(self, other):
        return not self.__eq__(other)

    def __hash__(self):
        return self._type_enum

    @property
    def name(self):
        """TensorFlow's name, such as "float32" or "float32_ref"."""
        return _TYPE_TO_STRING[self._type_enum]

    def __int__(self):
        return self._type_enum

    def __str__(self):
        return f"<dtype: {self.name!r}>"

    def __repr__(self):
        return "tf." + self.name

    def __reduce__(self):
        return as_dtype, (self.name,)

    @property
    def size(self):
        """Bytes an element takes in NumPy; of strings, resources and variants 0, in version 1 8, 1 and 1."""
        if self._base in (7, 20, 21):
            return 0 if tf2.enabled() else 8 if self._base == 7 else 1
        return np.dtype(self.as_numpy_dtype).itemsize


dtype_range = {
    np.bool_: (False, True), np.uint8: (0, 255), np.uint16: (0, 65535), np.int8: (-128, 127), np.int16: (-32768, 32767),
    np.int64: (-2**63, 2**63 - 1), np.uint64: (0, 2**64 - 1), np.int32: (-2**31, 2**31 - 1), np.uint32: (0, 2**32 - 1),
    np.float32: (-1, 1), np.float64: (-1, 1),
}

_INTERN_TABLE = {number: DType(number) for number in _TYPE_TO_STRING}
globals().update({name: _INTERN_TABLE[number] for number, name in _TYPE_TO_STRING.items()})
# Type checkers do not see those; these are all that the package uses by name.
int8: DType
int16: DType
int32: DType
int64: DType
uint8: DType
uint16: DType
uint32: DType
uint64: DType
complex64: DType
complex128: DType
bfloat16: DType
resource: DType
variant: DType
# These are used in this file, or have a second name.
float32, float64, float16 = _INTERN_TABLE[1], _INTERN_TABLE[2], _INTERN_TABLE[19]
string, bool = _INTERN_TABLE[7], _INTERN_TABLE[10]  # noqa: A001
half, double = float16, float64
half_ref, double_ref = float16._as_ref, float64._as_ref

_QUANTIZED_DTYPES_NO_REF = frozenset(_INTERN_TABLE[i] for i in _QUANTIZED)
_QUANTIZED_DTYPES_REF = frozenset(d._as_ref for d in _QUANTIZED_DTYPES_NO_REF)
QUANTIZED_DTYPES = _QUANTIZED_DTYPES_REF | _QUANTIZED_DTYPES_NO_REF

_NP_TO_TF = {kind: _INTERN_TABLE[number] for number, _, kind in _TABLE if kind is not None and number != 20}
_NP_TO_TF[np.object_] = _INTERN_TABLE[7]
for _kind in (np.intc, np.uintc, np.int_, np.uint, np.longlong, np.ulonglong, np.longdouble):
    if _kind not in _NP_TO_TF:
        for _known in list(_NP_TO_TF):
            if isinstance(_known, type) and np.dtype(_known) == np.dtype(_kind):
                _NP_TO_TF[_kind] = _NP_TO_TF[_known]
TF_VALUE_DTYPES = set(_NP_TO_TF.values())

_ANY_TO_TF: dict[Any, DType] = dict(_INTERN_TABLE)
_ANY_TO_TF.update({name: _INTERN_TABLE[number] for number, name in _TYPE_TO_STRING.items()})
_ANY_TO_TF.update({"half": half, "double": double, "float": float32, "half_ref": half_ref, "double_ref": double_ref,
                   "float_ref": float32._as_ref})
_ANY_TO_TF.update({builtins.float: float32, builtins.bool: bool, builtins.object: string, np.str_: string,
                   np.bytes_: string})
_ANY_TO_TF.update(_NP_TO_TF)


_TEXTS = {"float16": "half", "float32": "float", "float64": "double"}


def text_of(dtype):
    """The name that the runtime's messages give a type, or the type of an enum number."""
    name = dtype.name if isinstance(dtype, DType) else _TYPE_TO_STRING[dtype]
    return _TEXTS.get(name, name)


def as_dtype(type_value):
    """The DType that an enum number, a name, a NumPy type or array, or a Python type stands for. TypeError if there is
    none."""
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, np.str_) and str(type_value) in _ANY_TO_TF:  # of an array of names
        return _ANY_TO_TF[str(type_value)]
    if isinstance(type_value, (np.ndarray, np.generic)):
        type_value = type_value.dtype
    if isinstance(type_value, np.dtype):
        found = _NP_TO_TF.get(type_value.type) or _NP_TO_TF.get(type_value)
        if found is not None:
            return found
        if type_value.kind in "SU":
            return string
    try:
        return _ANY_TO_TF[type_value]
    except (KeyError, TypeError):
        pass
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
