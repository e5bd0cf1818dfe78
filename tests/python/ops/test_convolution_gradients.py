"""Gradients of convolutions, with TensorFlow 2.21's values."""

import numpy as np
import pytest

import penstock.v2 as tf

FLOATS = ("float32", "float16", "bfloat16")


def numbers(values, shape, dtype="float32"):
    return tf.cast(tf.reshape(tf.constant(values, tf.float32), shape), dtype)


def values(y):
    return tf.cast(y, tf.float32).numpy().ravel().tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_input_gradient_with_one_output_channel_in_each_group(dtype):
    dx = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[1, 1, 4, 2], filter=numbers([1, 2, 3, 4], [1, 2, 2, 1], dtype),
        out_backprop=numbers([1, 10, 100, 1000], [1, 1, 4, 1], dtype), strides=[1, 1, 1, 1], padding="SAME")
    # 1000 + 300 has too many bits for bfloat16.
    assert values(dx) == [1, 2, 13, 24, 130, 240, 1296 if dtype == "bfloat16" else 1300, 2400]
    grouped = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[1, 1, 3, 4], filter=numbers(np.arange(1, 9), [1, 2, 2, 2], dtype),
        out_backprop=numbers([1, 10, 2, 20, 4, 40], [1, 1, 3, 2], dtype), strides=[1, 1, 1, 1], padding="SAME")
    assert values(grouped) == [1, 3, 20, 40, 7, 13, 100, 160, 14, 26, 200, 320]


@pytest.mark.parametrize("dtype", FLOATS)
def test_transposed_convolution_of_one_channel(dtype):
    image = tf.nn.conv2d_transpose(numbers([1, 2, 3, 4], [1, 2, 2, 1], dtype),
                                   numbers(np.arange(1, 13), [2, 2, 3, 1], dtype), [1, 3, 3, 3], 1, "VALID")
    assert values(image) == [1, 2, 3, 6, 9, 12, 8, 10, 12, 10, 14, 18, 40, 50, 60, 36, 42, 48, 21, 24, 27, 58, 65, 72,
                             40, 44, 48]
    line = tf.nn.conv1d_transpose(numbers([1, 2, 3], [1, 3, 1], dtype), numbers(np.arange(1, 7), [3, 2, 1], dtype),
                                  [1, 5, 2], 1, "VALID")
    assert values(line) == [1, 2, 5, 8, 14, 20, 19, 24, 15, 18]
