"""GradientTape."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock.eager import backprop, context


@pytest.fixture(autouse=True)
def _eager():
    with context.eager_mode():
        yield


def test_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [3, 12])
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, x)


def test_structures_and_unconnected():
    x, z = tf.constant(3.0), tf.constant([1.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    assert tape.gradient(y, {"x": x, "z": z})["z"] is None
    zeros = tape.gradient(y, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zeros[0].numpy() == 6 and zeros[1].numpy().tolist() == [0, 0]
    assert tape.gradient(y, x, output_gradients=tf.constant(2.0)).numpy() == 12


def test_second_order():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        dy = inner.gradient(y, x)
    assert dy.numpy() == 12 and outer.gradient(dy, x).numpy() == 12


def test_variables():
    v, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * fixed
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, [v])[0].numpy() == 12


def test_sparse_gradient():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1]))
    grad = tape.gradient(y, v)
    assert isinstance(grad, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(grad).numpy(), [[0, 0], [2, 2]])


def test_stop_recording():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
    assert tape.gradient(z, x) is None


def test_custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda dy: dy * 100.0
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clipped(x) + x
    assert y.numpy() == 6 and tape.gradient(y, x).numpy() == 101


def test_functions_of_gradients():
    grad = backprop.gradients_function(lambda a, b: a * b)
    assert [g.numpy() for g in grad(2.0, 3.0)] == [3, 2]
    value, grads = backprop.val_and_grad_function(lambda a, b: a * b, [1])(2.0, 3.0)
    assert value.numpy() == 6 and grads[0].numpy() == 2
    v = tf.Variable(4.0)
    value, pairs = backprop.implicit_val_and_grad(lambda: v * v)()
    assert value.numpy() == 16 and pairs[0][0].numpy() == 8 and pairs[0][1] is v


def test_jacobian():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), [[2, 0], [0, 4]])
