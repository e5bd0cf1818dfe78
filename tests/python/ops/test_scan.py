"""Running sums, products and log-sum-exps: values against NumPy, gradients against differences, bad axes."""
import itertools

import numpy as np
import pytest

import penstock.v1 as tf

SCANS = {"cumsum": np.cumsum, "cumprod": np.cumprod,
         "cumulative_logsumexp": lambda x, axis: np.log(np.cumsum(np.exp(x), axis))}
START = {"cumsum": 0.0, "cumprod": 1.0, "cumulative_logsumexp": -np.inf}
WAYS = list(itertools.product([0, 1, -1], [False, True], [False, True]))
X = np.random.RandomState(0).uniform(0.5, 1.5, [3, 17])


def expected(name, x, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    y = SCANS[name](x, axis)
    if exclusive:
        y = np.roll(y, 1, axis)
        y[(slice(None),) * (axis % x.ndim) + (0,)] = START[name]
    return np.flip(y, axis) if reverse else y


@pytest.mark.parametrize("name", SCANS)
def test_values(name):
    with tf.Graph().as_default(), tf.Session() as sess:
        for axis, exclusive, reverse in WAYS:
            y = getattr(tf.math, name)(tf.constant(X), axis, exclusive, reverse)
            np.testing.assert_allclose(sess.run(y), expected(name, X, axis, exclusive, reverse), rtol=1e-9)


@pytest.mark.parametrize("name", SCANS)
def test_gradient(name):
    with tf.Graph().as_default(), tf.Session():
        for axis, exclusive, reverse in WAYS:
            if exclusive and name == "cumulative_logsumexp":
                continue  # its first element is -inf whatever x is
            x = tf.constant(X[:, :5])
            y = getattr(tf.math, name)(x, axis, exclusive, reverse)
            assert tf.test.compute_gradient_error(x, [3, 5], y, [3, 5]) < 1e-6


def test_integers_wrap_and_empty_tensors_stay_empty():
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.cumsum(tf.constant([100, 100], tf.int8))).tolist() == [100, -56]
        assert sess.run(tf.cumsum(tf.zeros([0, 3]))).shape == (0, 3)


def test_an_axis_out_of_range_is_refused():
    with tf.Graph().as_default(), tf.Session() as sess:
        axis = tf.placeholder(tf.int32, [])
        y = tf.cumsum(X, axis, name="sums")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)range \[-2, 2\), but got 5.*sums"):
            sess.run(y, {axis: 5})


@pytest.mark.parametrize("exclusive, reverse, expected", [
    (False, False, [-2.03294903, -1.18300488, -1.0605028, -0.19333547]),
    (False, True, [-0.20899688, -0.31923491, -1.93012616, -0.95216005]),
    (True, False, [-1.7797343, -1.08610927, -0.72014839, 0]),
    (True, True, [0, -0.23052626, -1.63567576, -0.77803935])])
def test_second_derivative_of_log_sum_exp(exclusive, reverse, expected):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([0.3, -0.5, 0.7, 0.1], tf.float64)
        y = tf.math.cumulative_logsumexp(x, exclusive=exclusive, reverse=reverse)
        if exclusive:
            y = y[:-1] if reverse else y[1:]  # without the one that is -infinity
        first, = tf.gradients(tf.reduce_sum(tf.sin(y)), x)
        second, = tf.gradients(tf.reduce_sum(first ** 2), x)
        np.testing.assert_allclose(sess.run(second), expected, atol=1e-8)
