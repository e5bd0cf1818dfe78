"""Values of the types that NumPy itself does not have."""
import ml_dtypes
import numpy as np
import pytest

import penstock.v1 as tf


def test_bfloat16():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.5, 1 / 3], tf.bfloat16)
        got = session.run(x)
        assert got.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(got, np.array([1.0, 2.5, 1 / 3], ml_dtypes.bfloat16))
        assert session.run(tf.cast(x, tf.float32))[2] == np.float32(0.333984375)
        fed = tf.placeholder(tf.bfloat16, [2])
        assert list(session.run(tf.cast(fed, tf.float32), {fed: np.array([3, 4], ml_dtypes.bfloat16)})) == [3.0, 4.0]
    assert tf.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16
    assert float(tf.bfloat16.max) == float.fromhex("0x1.FEp127")


@pytest.mark.parametrize("name, low, high", [
    ("float8_e5m2", -57344, 57344), ("float8_e4m3fn", -448, 448), ("float8_e4m3fnuz", -240, 240),
    ("float8_e4m3b11fnuz", -30, 30), ("float8_e5m2fnuz", -57344, 57344), ("int4", -8, 7), ("uint4", 0, 15)])
def test_types_of_a_byte(name, low, high):
    dtype = tf.as_dtype(name)
    assert (float(dtype.min), float(dtype.max)) == (low, high)
    values = np.array([1, 2], dtype.as_numpy_dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, [2])
        for got in session.run([tf.constant(values), tf.constant([1, 2], dtype), tf.identity(fed)], {fed: values}):
            assert got.dtype == getattr(ml_dtypes, name) and list(got.astype(np.float32)) == [1, 2]


def test_casts_to_float8_round_as_ml_dtypes():
    values = np.array([1.0, -1.5, 500.0, 0.3, np.nan], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        for name in ("float8_e5m2", "float8_e4m3fn"):
            got = session.run(tf.cast(values, tf.as_dtype(name)))
            expected = values.astype(getattr(ml_dtypes, name)).astype(np.float32)
            np.testing.assert_array_equal(got.astype(np.float32), expected)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_4_bits_keep_the_lower_ones(dtype, version_two):
    given = tf.cast(tf.constant([-9, -1, 0, 7, 8, 100, 300]), dtype)
    assert tf.cast(given, "int4").numpy().astype(int).tolist() == [7, -1, 0, 7, -8, 4, -4]
    assert tf.cast(given, "uint4").numpy().astype(int).tolist() == [7, 15, 0, 7, 8, 4, 12]
    assert tf.cast(tf.constant([-8, -1, 7], "int4"), dtype).numpy().tolist() == \
        np.array([-8, -1, 7]).astype(dtype).tolist()
    assert tf.cast(tf.constant([0, 9, 15], "uint4"), dtype).numpy().tolist() == [0, 9, 15]


def test_integers_of_4_bits_and_other_types(version_two):
    x = tf.constant([0, 9, 15], "uint4")
    assert tf.cast(x, "int4").numpy().astype(int).tolist() == [0, -7, -1]
    assert tf.function(lambda a: tf.cast(a, tf.int32) + 1)(x).numpy().tolist() == [1, 10, 16]
    for other in ("float32", "bfloat16", "bool", "complex64", "float8_e5m2"):
        with pytest.raises(tf.errors.UnimplementedError, match="Cast uint4 to .* is not supported"):
            tf.cast(x, other)
        with pytest.raises(tf.errors.UnimplementedError, match="Cast .* to uint4 is not supported"):
            tf.cast(tf.cast([1.0], other), "uint4")


def test_sizes_of_what_lies_elsewhere(version_two):
    assert [tf.as_dtype(name).size for name in ("string", "resource", "variant", "bool")] == [0, 0, 0, 1]
    assert tf.string.as_numpy_dtype is object and tf.as_dtype(np.object_) is tf.string


def test_quantized_numbers_where_ops_run_at_once(version_two):
    assert tf.constant([[1, 2], [3, 4]], tf.qint8).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant(300, tf.qint8).numpy() == 44 and tf.constant([(1,)], tf.qint32).shape.as_list() == [1, 1]
    assert tf.constant(1, tf.quint8, shape=[2]).numpy().tolist() == [1, 1]
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.constant([1.5], tf.qint8)
    with pytest.raises(ValueError, match="Can't convert non-rectangular Python sequence to Tensor"):
        tf.constant([[1], [2, 3]], tf.qint8)
