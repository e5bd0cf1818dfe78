"""Gradients through tf.while_loop of version 2."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_gradients_of_variables_read_in_a_loop_have_their_shapes():
    weights, bias = tf.Variable(tf.ones([3, 3])), tf.Variable(tf.ones([3]))
    shapes = []

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            _, y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.matmul(y, weights) + bias), (0, x))
            loss = tf.reduce_sum(y)
        found = tape.gradient(loss, [weights, bias])
        shapes.extend(gradient.shape.as_list() for gradient in found)
        return found

    found = gradients(tf.ones([1, 3]))
    assert shapes == [[3, 3], [3]]
    np.testing.assert_array_equal(found[0], np.full([3, 3], 3 + 4))
    np.testing.assert_array_equal(found[1], [4, 4, 4])


def test_a_custom_gradient_that_reads_what_is_outside_of_the_loop():
    """TensorFlow refuses some of these; the values are formulas."""
    n, m, x = tf.constant(3.0), tf.Variable(2.0), tf.constant(2.0)

    @tf.custom_gradient
    def square(v):
        return v * v, lambda dy: dy * v * n * m

    def squares(x):
        return tf.while_loop(lambda v: v < 8.0, lambda v: (square(v),), [x])[0]

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = squares(x)
        return tape.gradient(y, x)

    outside = tf.function(squares)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outside(x)
    assert float(inside(x)) == float(tape.gradient(y, x)) == 4.0 * 6 * 2.0 * 6


@pytest.mark.parametrize("step, expected", [
    (lambda x, a: tf.tanh(x) + 0.1 * a, [[-0.84396, 0.0], [0.0, 0.0]]),
    (lambda x, a: tf.tanh(x) * a, [[-0.15807, 0.76723], [0.76723, 0.0]]),
    (lambda x, a: tf.tanh(x) + a, [[-1.53446, 0.0], [0.0, 0.0]]),
], ids=["fading", "product", "sum"])
def test_second_derivatives_by_what_a_function_with_a_loop_captures(step, expected):
    x, y = tf.constant(0.7), tf.constant(1.3)  # TensorFlow 2.21's values
    function = tf.function(lambda a: tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, step(x, a)), [0, a])[1])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = function(y)
        first = tape.gradient(z, [x, y])
    second = [outer.gradient(g, [x, y]) for g in first]
    np.testing.assert_allclose(second, expected, atol=1e-5)


@pytest.mark.parametrize("shape", [[2, 3], [None, 3], [None, None]])
def test_gradients_that_need_a_shape_as_int64_where_the_loop_reads_it_as_int32(shape):
    """tf.sort asks for the shape as int32, its gradient as int64; the values are TensorFlow 2.21's."""

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32)])
    def gradient(x):
        def step(i, y):
            return i + 1, tf.sort(tf.sin(x) * y, axis=-1)

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, _: i < 2, step, [0, tf.ones_like(x)])[1]
        return tape.gradient(y, x)

    found = gradient(tf.constant([[0.3, -1.0, 2.0], [0.5, 0.1, -0.4]]))
    expected = [[-1.607776, 0.31934, -0.756802], [-0.683493, 0.198669, 0.88316]]
    np.testing.assert_allclose(found, expected, atol=1e-5)
