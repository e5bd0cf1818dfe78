"""Forward-mode derivatives."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.gradient import forwardprop


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_directional_derivatives():
    x, y = tf.constant([0.3, 0.7]), tf.constant([2.0, -1.0])
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant([1.0, 2.0]), tf.constant([0.5, 0.0])]) as acc:
        z = tf.sin(x) * y
        total = tf.reduce_sum(z)
    tangent = np.cos([0.3, 0.7]) * [1.0, 2.0] * [2.0, -1.0] + np.sin([0.3, 0.7]) * [0.5, 0.0]
    np.testing.assert_allclose(acc.jvp(z), tangent, rtol=1e-6)
    np.testing.assert_allclose(acc.jvp(total), tangent.sum(), rtol=1e-6)
    assert acc.jvp(tf.constant(1.0)) is None
    assert float(acc.jvp(tf.constant(1.0), tf.UnconnectedGradients.ZERO)) == 0.0
    assert acc.jvp([x, {"a": total}])[0].numpy().tolist() == [1.0, 2.0]


def test_hessian_vector_products_and_functions():
    v = tf.Variable([1.0, 2.0, 3.0])
    f = tf.function(lambda: tf.reduce_sum(v ** 3))
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0, 2.0])) as acc:
        with tf.GradientTape() as tape:
            y = f()
        gradient = tape.gradient(y, v)
    assert acc.jvp(gradient).numpy().tolist() == [6.0, 0.0, 36.0]
    assert float(acc.jvp(y)) == 3.0 + 2 * 27.0


def test_forward_over_forward():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x ** 4
        first = inner.jvp(y)
    assert float(first) == 32.0 and float(outer.jvp(first)) == 48.0


@pytest.mark.parametrize("decorate", [lambda f: f, tf.function])
def test_derivatives_of_derivatives_may_be_asked_for_afterwards(decorate):
    x, f = tf.constant(2.0), decorate(lambda x: x ** 4)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as first:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as second:
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as third:
                y = f(x)
    values = [third.jvp(y), second.jvp(third.jvp(y)), first.jvp(second.jvp(third.jvp(y)))]
    assert [float(value) for value in values] == [32, 48, 48]
    assert third.jvp(first.jvp(y)) is None


def test_refused():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Shape of tangent"):
        tf.autodiff.ForwardAccumulator(x, tf.constant([1.0]))
    with pytest.raises(ValueError, match="primal multiple times"):
        tf.autodiff.ForwardAccumulator([x, x], [x, x])


def test_what_is_watched_later():
    with forwardprop.ForwardGradientAccumulator() as acc:
        x = tf.constant(3.0)
        acc.watch(x, tf.constant(1.0))
        acc.watch(x, tf.constant(1.0))
        y = x * x
    assert float(acc.jvp(y)) == 12.0 and acc.jvp(tf.cast(y, tf.int32)) is None


def test_errors_of_gradient_functions_come_where_they_are_called():
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            raise ValueError("of the gradient")
        return x * 1.0, grad

    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)):
        f(tf.constant(3.0))
        with pytest.raises(ValueError, match="of the gradient"):
            f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(ValueError, match="of the gradient"):
        tape.gradient(y, x)
