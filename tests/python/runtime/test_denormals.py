"""Denormal numbers are zero where ops compute, as in TensorFlow, and only there."""
import threading

import numpy as np

import penstock.v1 as tf
from penstock._src.graph import context

TINY = np.float32([1e-40, 1e-30, 1e-38])
FLUSHED = np.float32([0, 1e-30, 0])


def keeps_denormals():
    return bool((np.float32([1e-40]) * np.float32(.5))[0] != 0)


def test_in_a_session():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        wide = tf.placeholder(tf.float64, [None])
        fetches = [x + 0., x * .5, tf.equal(x, 0.), tf.cast(x, tf.float64), wide * .5, tf.exp(x - 90.), tf.identity(x)]
        values = session.run(fetches, {x: TINY, wide: [1e-310]})
        expected = [FLUSHED, FLUSHED / 2, [True, False, True], FLUSHED.astype("d"), [0.], [0.] * 3, TINY]
        for value, other in zip(values, expected):
            np.testing.assert_array_equal(value, other)
        assert keeps_denormals()


def test_on_all_threads():
    """Large values are computed on several."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        assert not session.run(x * .5, {x: np.full(1 << 20, 1e-40, "f")}).any()
        branches = [tf.reduce_sum(tf.matmul(tf.fill([300, 300], 1e-30), tf.fill([300, 300], x[0] * 1e20)))
                    for _ in range(4)]
        assert session.run(branches, {x: [1e-32]}) == [0] * 4


def test_eager_and_in_functions():
    with context.eager_mode():
        x = tf.constant(TINY)
        np.testing.assert_array_equal(x * .5, FLUSHED / 2)
        assert keeps_denormals()
        np.testing.assert_array_equal(tf.function(lambda x: x * .5)(x), FLUSHED / 2)
        np.testing.assert_array_equal(next(iter(tf.data.Dataset.from_tensors(x).map(lambda x: x * .5))), FLUSHED / 2)
        assert keeps_denormals()


def test_python_functions_keep_them():
    seen = []

    def look(x):
        seen.append(keeps_denormals())
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.py_func(look, [tf.constant(1.)], tf.float32))
        session.run(tf.py_func(look, [tf.constant(1.)], tf.float32) * tf.py_func(look, [tf.constant(1.)], tf.float32))
    with context.eager_mode():
        tf.py_function(look, [tf.constant(1.)], tf.float32)
        tf.data.Dataset.range(2).map(lambda x: tf.py_function(look, [x], tf.int64))
        list(tf.data.Dataset.range(2).map(lambda x: tf.numpy_function(look, [x], tf.int64), 2))
    assert len(seen) >= 6 and all(seen)
    thread = threading.Thread(target=lambda: seen.append(keeps_denormals()))
    thread.start()
    thread.join()
    assert seen[-1]
