"""Gradients of pools and activations, and windows that reach beyond the image, with TensorFlow 2.21's values."""

import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")

NAN, INF = np.nan, np.inf
GRADIENTS = [NAN, NAN, NAN, INF, -INF, INF, 1, -1, -1, NAN, 2, 3, NAN, NAN, INF, 5]
FEATURES = [-1, 2, NAN, -1, 0, 2, -1, NAN, 0, 0, 2, 7, 7, 6, 7, INF]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("op, expected", [
    ("ReluGrad", [NAN, NAN, NAN, NAN, NAN, INF, 0, -0.0, -0.0, NAN, 2, 3, NAN, NAN, INF, 5]),
    ("Relu6Grad", [NAN, NAN, NAN, NAN, NAN, INF, 0, -0.0, -0.0, NAN, 2, 0, NAN, NAN, NAN, 0])])
def test_gradients_that_are_not_finite_are_not_hidden(op, expected, dtype):
    gradients, features = (tf.cast(tf.constant(v * 5, tf.float32), dtype) for v in (GRADIENTS, FEATURES))
    call = getattr(tf.raw_ops, op)
    fused = tf.function(lambda g, x: tf.negative(call(gradients=tf.negative(g), features=x)))
    for got in (call(gradients=gradients, features=features), fused(gradients, features)):
        got = tf.cast(got, tf.float64).numpy()
        np.testing.assert_array_equal(got, expected * 5)
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]),
                                      np.signbit([e for e in expected * 5 if not np.isnan(e)]))


def test_gradients_of_integers():
    given = {"gradients": [3, 4, 5, 6], "features": [-1, 9, 2, 6]}
    assert tf.raw_ops.ReluGrad(**given).numpy().tolist() == [0, 4, 5, 6]
    assert tf.raw_ops.Relu6Grad(**given).numpy().tolist() == [0, 0, 5, 0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_all_largest_elements_of_a_volume_get_the_gradient(dtype):
    x = tf.cast(tf.reshape(tf.constant([1, 2, 2, 0, 2, 2, 1, 1]), [1, 2, 2, 2, 1]), dtype)
    dy = tf.cast(tf.reshape(tf.range(1, 9), [1, 2, 2, 2, 1]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool3d(x, 2, 1, "SAME")
    dx = tape.gradient(y, x, dy)
    assert tf.cast(dx, tf.int32).numpy().ravel().tolist() == [0, 3, 4, 0, 6, 14, 7, 19]


def test_the_gradient_of_a_volume_goes_where_the_given_output_is():
    dx = tf.raw_ops.MaxPool3DGrad(
        orig_input=tf.reshape([1.0, 2, 3, 4], [1, 1, 2, 2, 1]), orig_output=tf.fill([1, 1, 1, 1, 1], 3.0),
        grad=tf.fill([1, 1, 1, 1, 1], 7.0), ksize=[1, 1, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding="VALID")
    assert dx.numpy().ravel().tolist() == [0, 0, 7, 0]


@pytest.mark.parametrize("window, stride", [(5, 2), (6, 3), (7, 3), (7, 4)])
def test_windows_that_reach_beyond_the_image_by_less_than_a_stride(window, stride):
    x, raw = tf.ones([1, 2, 4, 1]), tf.raw_ops
    flat = {"ksize": [1, window, 1, 1], "strides": [1, stride, 1, 1], "padding": "VALID"}
    deep = {"ksize": [1, window, 1, 1, 1], "strides": [1, stride, 1, 1, 1], "padding": "VALID"}
    patches = {"ksizes": flat["ksize"], "strides": flat["strides"], "rates": [1] * 4, "padding": "VALID"}
    any_image = tf.TensorSpec([None, None, None, 1])
    for pool in (lambda x: raw.AvgPool(value=x, **flat), lambda x: raw.MaxPool(input=x, **flat),
                 lambda x: raw.MaxPoolWithArgmax(input=x, **flat)[0]):
        for call in (pool, tf.function(pool, input_signature=[any_image])):
            assert call(x).shape == [1, 0, 4, 1]
        with pytest.raises(ValueError, match="Negative dimension size"):
            tf.function(pool)(x)
    for pool in (raw.AvgPool3D, raw.MaxPool3D):
        assert pool(input=x[..., None], **deep).shape == [1, 0, 4, 1, 1]

    def cut(x):
        return raw.ExtractImagePatches(images=x, **patches)

    for call in (cut, tf.function(cut)):
        assert call(x).shape == [1, 0, 4, window]
    volumes = {"ksizes": deep["ksize"], "strides": deep["strides"], "padding": "VALID"}
    assert raw.ExtractVolumePatches(input=x[..., None], **volumes).shape == [1, 0, 4, 1, window]
    assert tf.nn.dilation2d(x, tf.ones([window, 1, 1]), flat["strides"], "VALID", "NHWC", [1] * 4).shape == [1, 0, 4, 1]
    dx = raw.AvgPoolGrad(orig_input_shape=[1, 2, 4, 1], grad=tf.ones([1, 0, 4, 1]), **flat)
    np.testing.assert_array_equal(dx, np.zeros([1, 2, 4, 1]))


def test_windows_that_reach_beyond_the_image_by_a_stride_or_more():
    for window, stride in ((4, 1), (8, 3)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Computed output size would be negative: -1"):
            tf.nn.avg_pool2d(tf.ones([1, 2, 4, 1]), [1, window, 1, 1], [1, stride, 1, 1], "VALID")
