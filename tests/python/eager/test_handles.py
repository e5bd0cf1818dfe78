"""Gradients that flow through the handles of variables which functions return: expected values are formulas, and
TensorFlow 2.21 gives them too."""
import pytest

import penstock as tf
from penstock._src.graph import context

VALUE = [2.0, 3.0]


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def read(handle):
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)


def gradient(f, *sources, watched=True):
    with tf.GradientTape() as tape:
        if watched:
            tape.watch(sources)
        y = tf.reduce_sum(f())
    return [None if g is None else tf.convert_to_tensor(g).numpy().tolist() for g in tape.gradient(y, list(sources))]


def test_a_function_that_returns_a_handle():
    v = tf.Variable(VALUE)
    handle = tf.function(lambda: v.handle)
    both = tf.function(lambda: (v.handle, v * 3.0))
    through = tf.function(lambda h: h)
    assert gradient(lambda: read(handle()) ** 2, v) == [[4.0, 6.0]]
    assert gradient(tf.function(lambda: read(handle()) ** 2), v) == [[4.0, 6.0]]

    def product():
        h, tripled = both()
        return read(h) ** 2 * tripled

    assert gradient(tf.function(product), v, watched=False) == [[36.0, 81.0]]
    assert gradient(product, v) == [[36.0, 81.0]]
    assert gradient(lambda: both()[1], v) == [[3.0, 3.0]]  # nothing flows into the handle

    def rows():
        return tf.gather(v, [0]) + tf.raw_ops.ResourceGather(resource=through(v.handle), indices=[1],
                                                             dtype=tf.float32) ** 2

    assert gradient(rows, v) == gradient(tf.function(rows), v) == [[1.0, 6.0]]


def test_gradients_of_gradients_and_inside_of_control_flow():
    v = tf.Variable(VALUE)
    handle = tf.function(lambda: v.handle)

    def derivative():
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = read(handle()) ** 3
        return tape.gradient(y, v)

    assert gradient(derivative, v) == gradient(tf.function(derivative), v) == [[12.0, 18.0]]

    def branch():
        return tf.cond(v[0] > 0, lambda: read(handle()) ** 2, lambda: tf.zeros(2))

    def loop():
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + read(handle()) ** 2), (0, tf.zeros(2)))[1]

    assert gradient(tf.function(branch), v) == [[4.0, 6.0]]
    assert gradient(tf.function(loop), v) == [[8.0, 12.0]]


def test_the_handle_that_control_flow_chooses():
    v, w = tf.Variable(VALUE), tf.Variable([1.0, 1.0])
    either = tf.function(lambda first: tf.cond(first, lambda: v.handle, lambda: w.handle))
    assert gradient(lambda: read(either(tf.constant(True))) ** 2, v, w) == [[4.0, 6.0], [0.0, 0.0]]

    def swapped(times):
        return tf.while_loop(lambda i, a, b: i < times, lambda i, a, b: (i + 1, b, a), (0, v.handle, w.handle))[1]

    swapped = tf.function(swapped)
    assert gradient(lambda: read(swapped(tf.constant(3))) ** 2, v, w) == [[0.0, 0.0], [2.0, 2.0]]


def test_in_graphs():
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=VALUE, use_resource=True)
        handle = tf.function(lambda: v.handle)
        first, = tf.gradients(read(handle()) ** 3, v)
        second, = tf.gradients(first, v)
        with pytest.raises(TypeError, match="Input gradient .* for resource tensor .* should not be a resource"):
            tf.gradients(handle(), v, grad_ys=[v.handle])
        with tf.compat.v1.Session() as session:
            session.run(v.initializer)
            assert [x.tolist() for x in session.run([first, second])] == [[12.0, 27.0], [12.0, 18.0]]
