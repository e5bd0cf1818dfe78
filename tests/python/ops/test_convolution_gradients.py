"""Gradients and borders of convolutions, with TensorFlow 2.21's values."""

import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")

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


# oneDNN 2.6.3 read pixels behind the line and, in the second case, wrote outside of the gradient.
@pytest.mark.parametrize("filter_length, expected", [(10, [6, 7, 8, 9, 9, 8, 7, 6, 5]),
                                                     (11, [6, 7, 8, 9, 9, 9, 8, 7, 6])])
def test_filter_longer_than_the_line(filter_length, expected):
    for activation in (tf.identity, tf.nn.relu):
        function = tf.function(lambda x, f, activation=activation: activation(
            tf.nn.bias_add(tf.nn.conv1d(x, f, 1, "SAME"), tf.zeros([128]))))
        for convolve in (lambda x, f: tf.nn.conv1d(x, f, 1, "SAME"), function):
            y = convolve(tf.ones([2, 9, 3]), tf.ones([filter_length, 3, 128])).numpy() / 3
            np.testing.assert_array_equal(y, np.broadcast_to(np.reshape(expected, (9, 1)), (2, 9, 128)))


def test_filter_deeper_than_the_volume():
    x = tf.reshape(tf.range(160, dtype=tf.float32), [2, 5, 4, 4, 1])
    df = tf.raw_ops.Conv3DBackpropFilterV2(
        input=x, filter_sizes=[7, 3, 3, 1, 64], out_backprop=tf.ones([2, 3, 2, 2, 64]), strides=[1, 2, 2, 2, 1],
        padding="SAME").numpy()
    expected = [[488, 496, 248, 520, 528, 264, 260, 264, 132], [976, 992, 496, 1040, 1056, 528, 520, 528, 264],
                [1232, 1248, 624, 1296, 1312, 656, 648, 656, 328], [1848, 1872, 936, 1944, 1968, 984, 972, 984, 492],
                [1232, 1248, 624, 1296, 1312, 656, 648, 656, 328], [1488, 1504, 752, 1552, 1568, 784, 776, 784, 392],
                [744, 752, 376, 776, 784, 392, 388, 392, 196]]
    np.testing.assert_array_equal(df, np.broadcast_to(np.reshape(expected, (7, 3, 3, 1, 1)), (7, 3, 3, 1, 64)))


def test_filter_as_wide_as_the_image_with_strides_along_its_rows():
    # oneDNN 2.6.3 has a kernel of its own for this gradient, which is wrong. The numbers are sums over output channels.
    dx = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[1, 6, 14, 96], filter=tf.ones([3, 14, 96, 12]), strides=[1, 2, 1, 1], padding="VALID",
        out_backprop=tf.reshape(tf.range(24, dtype=tf.float32), [1, 2, 1, 12])).numpy()
    rows = np.reshape([66, 66, 276, 210, 210, 0], (6, 1, 1))
    np.testing.assert_array_equal(dx[0], np.broadcast_to(rows, (6, 14, 96)))


def test_infinite_weights_of_depthwise_convolutions_are_not_multiplied_with_padding():
    for channels in (1, 2, 9):
        f = np.ones([3, 3, channels, 1], np.float32)
        f[0, 0] = np.inf
        image, inf = tf.ones([1, 4, 5, channels]), np.inf
        attrs = {"filter": f, "strides": [1, 1, 1, 1], "padding": "SAME"}
        dx = tf.raw_ops.DepthwiseConv2dNativeBackpropInput(input_sizes=[1, 4, 5, channels], out_backprop=image, **attrs)
        assert values(dx[..., 0]) == [inf, inf, inf, inf, 4, inf, inf, inf, inf, 6, inf, inf, inf, inf, 6, 4, 6, 6, 6,
                                      4]
        if channels > 1:
            y = tf.raw_ops.DepthwiseConv2dNative(input=image, **attrs)
            assert values(y[..., 0]) == [4, 6, 6, 6, 4, 6, inf, inf, inf, inf, 6, inf, inf, inf, inf, 4, inf, inf, inf,
                                         inf]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_depthwise_gradients_with_strides_that_differ(dtype):
    """TensorFlow computes them of floats only."""
    attrs = {"strides": [1, 2, 3, 1], "padding": "SAME"}
    x, f = numbers(np.arange(30) / 8, [1, 5, 6, 1], dtype), numbers(np.arange(1, 7), [3, 2, 1, 1], dtype)
    dy = numbers(np.arange(1, 7), [1, 3, 2, 1], dtype)
    raw = tf.raw_ops
    assert values(raw.DepthwiseConv2dNative(input=x, filter=f, **attrs)) == [9.5, 16.25, 39, 46.875, 28.5, 32.25]
    dx = raw.DepthwiseConv2dNativeBackpropInput(input_sizes=[1, 5, 6, 1], filter=f, out_backprop=dy, **attrs)
    assert values(dx) == [3, 4, 0, 6, 8, 0, 8, 12, 0, 14, 20, 0, 9, 12, 0, 12, 16, 0, 20, 28, 0, 26, 36, 0, 15, 20, 0,
                          18, 24, 0]
    df = raw.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=[3, 2, 1, 1], out_backprop=dy, **attrs)
    assert values(df) == [33.75, 36, 48, 50.625, 20.25, 21.5]
