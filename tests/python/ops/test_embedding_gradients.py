"""The gradient of rows of a variable says how large the variable is, where the graph knows."""
import warnings

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_the_size_of_a_variable_is_a_constant_of_its_gradient(in_a_loop):
    with context.eager_mode():
        v = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))

        @tf.function
        def gradient(i):
            with tf.GradientTape() as tape:
                y = tf.zeros([3])
                for _ in tf.range(2) if in_a_loop else range(2):
                    y += tf.gather(v, i)
            found = tape.gradient(y, v)
            assert tf.get_static_value(found.dense_shape).tolist() == [4, 3]
            return tf.convert_to_tensor(found)

        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "of unknown shape. This may consume a large amount of memory."
            np.testing.assert_array_equal(gradient(1), [[0] * 3, [2] * 3, [0] * 3, [0] * 3])
