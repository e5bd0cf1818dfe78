"""Eager values in other libraries' hands without copies."""
import gc

import ml_dtypes
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_buffers_are_views():
    t = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    view = memoryview(t)
    assert view.readonly and view.shape == (2, 3, 4) and view.strides == (48, 16, 4) and view.format == "f"
    first, second = np.asarray(t), np.asarray(t)
    assert np.shares_memory(first, second) and not first.flags.writeable
    assert (first == np.arange(24).reshape(2, 3, 4)).all()
    del t, view, second
    gc.collect()
    assert first[1, 2, 3] == 23.0


@pytest.mark.parametrize("dtype", [
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "complex64", "complex128"])
def test_types(dtype):
    value = np.array([[0, 1], [1, 1]]).astype(dtype)
    t = tf.constant(value)
    assert np.asarray(t).dtype == value.dtype and (np.asarray(t) == value).all()
    assert np.asarray(tf.constant(value[1, 1])).shape == ()
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(t))
    assert back.dtype == t.dtype and (back.numpy() == value).all()


def test_what_has_no_buffer():
    with pytest.raises(BufferError, match="string"):
        memoryview(tf.constant(["a"]))
    assert np.asarray(tf.constant(["a", "b"])).tolist() == [b"a", b"b"]
    assert np.asarray(tf.constant(1.5, tf.bfloat16)).dtype == ml_dtypes.bfloat16


def test_dlpack_shares_memory():
    t = tf.constant(np.arange(100, dtype=np.int64).reshape(10, 10))
    theirs = np.from_dlpack(t)
    assert np.shares_memory(theirs, np.asarray(t)) and theirs.shape == (10, 10)
    mine = np.zeros(64, np.float32)
    ours = tf.experimental.dlpack.from_dlpack(mine)
    mine[3] = 5.0
    assert ours.numpy()[3] == (5.0 if mine.ctypes.data % 16 == 0 else 0.0)
    del mine
    gc.collect()
    assert ours.numpy().sum() in (5.0, 0.0)


def test_dlpack_refuses():
    with pytest.raises(tf.errors.InvalidArgumentError, match="dense"):
        tf.experimental.dlpack.from_dlpack(np.zeros((4, 4), np.float32).T[1:])
    with pytest.raises(TypeError):
        tf.experimental.dlpack.from_dlpack("no capsule")
    with pytest.raises(TypeError):
        tf.experimental.dlpack.to_dlpack([1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="DT_STRING is not supported by dlpack"):
        tf.experimental.dlpack.to_dlpack(tf.constant("a"))


def test_the_buffers_type_is_numpys_own():
    for dtype in (np.int64, np.uint64):
        assert np.array(tf.constant([1, 2], dtype)).dtype is np.dtype(dtype)
    assert type(np.sum(tf.constant([1, 2], tf.int64))) is np.int64


def test_handles_have_no_buffer():
    with pytest.raises(BufferError, match="Cannot convert a Tensor of dtype resource to a NumPy array"):
        memoryview(tf.Variable(1.0).handle)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "bool", "complex64", "qint8", "int4", "uint8",
                                   "float8_e5m2"])
def test_protos_of_eager_tensors(dtype):
    x = tf.quantization.quantize([3.0, 1.0], -10.0, 10.0, tf.qint8)[0] if dtype == "qint8" else \
        tf.cast([1, 0] if "8_e" not in dtype else [1.0, 0.0], dtype)
    proto = tf.make_tensor_proto(x)
    assert proto.dtype == x.dtype.as_datatype_enum
    assert tf.make_ndarray(proto).astype(np.complex64).tolist() == x.numpy().astype(np.complex64).tolist()
    assert tf.constant(proto).dtype == x.dtype and tf.constant(proto).numpy().tolist() == x.numpy().tolist()
    assert tf.make_ndarray(tf.make_tensor_proto(x[:1])).shape == (1,)


def test_protos_of_eager_strings_and_of_another_type():
    assert tf.make_ndarray(tf.make_tensor_proto(tf.constant([["a", "b"]]))).tolist() == [[b"a", b"b"]]
    assert tf.make_tensor_proto(tf.constant([1.5]), dtype=tf.float64).double_val == [1.5]
    assert tf.make_tensor_proto(tf.constant(2), shape=[3]).int_val == [2]
