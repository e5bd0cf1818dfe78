import numpy as np
import pytest

from penstock._src.graph import dtypes

# TensorFlow's types.proto.
NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
           "int64": 9, "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13, "bfloat16": 14, "qint16": 15,
           "quint16": 16, "uint16": 17,
           "complex128": 18, "float16": 19, "resource": 20, "variant": 21, "uint32": 22, "uint64": 23}


@pytest.mark.parametrize("name, number", NUMBERS.items())
def test_numbers_and_names(name, number):
    dtype = getattr(dtypes, name)
    assert dtype.as_datatype_enum == number and dtype.name == name
    assert dtypes.as_dtype(number) is dtype and dtypes.as_dtype(name) is dtype
    assert dtypes.as_dtype(np.array([name])[0]) is dtype
    ref = getattr(dtypes, name + "_ref")
    assert ref.as_datatype_enum == number + 100 and ref.base_dtype is dtype and dtype._as_ref is ref
    assert ref.is_compatible_with(ref) and dtype.is_compatible_with(ref) and not ref.is_compatible_with(dtype)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
                                  "uint32", "uint64", "complex64", "complex128", "bool"])
def test_numpy_types_come_back(kind):
    dtype = dtypes.as_dtype(np.dtype(kind))
    assert dtype.name == kind and np.dtype(dtype.as_numpy_dtype) == np.dtype(kind)
    assert dtype == np.dtype(kind) and dtype == kind and dtype != np.dtype("S3")


def test_limits_are_numpys():
    for name in ("int8", "uint16", "int32", "uint64"):
        assert getattr(dtypes, name).min == np.iinfo(name).min and getattr(dtypes, name).max == np.iinfo(name).max
    assert dtypes.float16.max == np.finfo(np.float16).max
    for name in ("bool", "string", "complex64", "qint8"):
        with pytest.raises(TypeError, match="Cannot find minimum value"):
            getattr(dtypes, name).min


def test_kinds():
    assert dtypes.bfloat16.is_floating and dtypes.float16.is_floating and not dtypes.complex64.is_floating
    assert dtypes.uint8.is_integer and dtypes.uint8.is_unsigned and not dtypes.quint8.is_integer
    assert dtypes.quint8.is_quantized and dtypes.complex64.is_complex and dtypes.complex64.real_dtype is dtypes.float32


def test_what_is_no_type():
    for value in ("float33", object(), 99, [], None):
        with pytest.raises(TypeError, match="Cannot convert value"):
            dtypes.as_dtype(value)
    assert dtypes.float32 != None and dtypes.float32 != 7  # noqa: E711
