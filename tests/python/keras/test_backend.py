"""tf.keras.backend: settings and questions about tensors."""
import numpy as np
import pytest

import penstock.v1 as tf

K = tf.keras.backend


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name, default, other, wrong", [
    ("floatx", "float32", "float64", "int32"), ("image_data_format", "channels_last", "channels_first", "NHWC")])
def test_settings(name, default, other, wrong):
    get, set_ = getattr(K, name), getattr(K, "set_" + name)
    assert get() == default
    try:
        set_(other)
        assert get() == other
        with pytest.raises(ValueError, match=wrong):
            set_(wrong)
    finally:
        set_(default)


def test_the_smallest_number():
    assert K.epsilon() == 1e-7
    try:
        K.set_epsilon(1e-3)
        assert K.epsilon() == 1e-3
    finally:
        K.set_epsilon(1e-7)


def test_tensors():
    sparse = tf.SparseTensor([[0, 1]], [1.], [2, 3])
    x = tf.placeholder(tf.float32, [None, 3])
    assert K.is_sparse(sparse) and not K.is_sparse(x)
    assert K.ndim(x) == 2 and K.int_shape(x) == (None, 3)
    assert K.ndim(tf.placeholder(tf.float32)) is None and K.int_shape(tf.placeholder(tf.float32)) is None
    assert K.constant(1).dtype == tf.float32 and K.constant(1, tf.int32).dtype == tf.int32
    assert K.cast_to_floatx([1, 2]).dtype == np.float32
    with K.name_scope("s"), tf.Session() as session:
        np.testing.assert_allclose(session.run(K.hard_sigmoid(tf.constant([-3., -1., 0., 4.]))), [0, .3, .5, 1.])
        assert tf.no_op().name == "s/NoOp"
