"""Functions of version 2 on ragged tensors: TensorFlow 2.21's values."""
import numpy as np
import pytest

import penstock as tf
from penstock.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


ROWS = [[1.5, -2.0], [], [0.25]]


@pytest.mark.parametrize("function, want", [  # TensorFlow 2.21's values
    (lambda tf, r: tf.nn.silu(r), [[1.2263618, -0.2384058], [], [0.1405441]]),
    (lambda tf, r: tf.nn.gelu(r), [[1.3997892, -0.0455003], [], [0.1496766]]),
    (lambda tf, r: tf.math.erfinv(r / 4), [[0.3456171, -0.4769363], [], [0.0554460]]),
    (lambda tf, r: tf.math.bessel_i0(r), [[1.6467232, 2.2795854], [], [1.0156863]]),
    (lambda tf, r: tf.math.xlogy(r, 2.0), [[1.0397208, -1.3862944], [], [0.1732868]]),
    (lambda tf, r: tf.math.multiply_no_nan(r, r), [[2.25, 4.0], [], [0.0625]]),
    (lambda tf, r: tf.nn.sigmoid_cross_entropy_with_logits(r, r), [[-0.5485868, -3.8730719], [], [0.7634394]]),
    (lambda tf, r: tf.image.convert_image_dtype(r, tf.float64), ROWS),
], ids=["silu", "gelu", "erfinv", "bessel_i0", "xlogy", "multiply_no_nan", "cross_entropy", "convert_image_dtype"])
def test_functions_of_each_element_take_ragged_tensors(function, want):
    got = function(tf, tf.ragged.constant(ROWS)).to_list()
    assert [len(row) for row in got] == [len(row) for row in want]
    np.testing.assert_allclose(sum(got, []), sum(want, []), rtol=2e-6)


def test_checks_take_ragged_tensors():
    ragged = tf.ragged.constant(ROWS)
    tf.debugging.assert_equal(ragged, ragged)
    tf.debugging.assert_less(ragged, ragged + 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(ragged, ragged)


def test_reduce_logsumexp_of_ragged_rows():
    ragged = tf.ragged.constant([[1.0, 2.0], [500.0], []])
    got = tf.reduce_logsumexp(ragged, 1)
    np.testing.assert_allclose(got[:2], [np.log(np.exp(1) + np.exp(2)), 500.0], rtol=1e-6)
    assert tf.reduce_logsumexp(ragged, 1, keepdims=True).shape.as_list() == [3, 1]
    with tf.GradientTape() as tape:
        tape.watch(ragged.values)
        total = tf.reduce_logsumexp(ragged, 1)[0]
    gradient = tf.convert_to_tensor(tape.gradient(total, ragged.values))
    np.testing.assert_allclose(gradient, [0.26894143, 0.7310586, 0.0], rtol=1e-5)


def test_gather_of_ragged_rows_by_a_scalar_and_along_inner_axes():
    ragged = tf.ragged.constant([[1, 2], [5], [3, 4]])
    assert tf.gather(ragged, 2).numpy().tolist() == [3, 4]
    assert tf.gather(ragged, [0], axis=1).numpy().tolist() == [[1], [5], [3]]
    assert tf.gather(ragged, 0, axis=-1).numpy().tolist() == [1, 5, 3]
    deep = tf.ragged.constant([[[1, 2], [3]], [[4]], [[5, 6], [7]]])
    assert tf.gather(deep, 1).to_list() == [[4]]
    assert tf.gather(deep, [0], axis=1).to_list() == [[[1, 2]], [[4]], [[5, 6]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index out of range"):
        tf.gather(ragged, [1], axis=1)


def test_a_ragged_tensor_is_a_tensor_whose_new_dimensions_are_uniform():
    ragged = tf.ragged.constant([[1, 2], [5], [3, 4]])
    assert tf.is_tensor(ragged) and tf.is_tensor(tf.sparse.from_dense([1])) and not tf.is_tensor([1])
    assert tf.expand_dims(ragged, 1).shape.as_list() == [3, 1, None]
    assert tf.expand_dims(ragged, 0).shape.as_list() == [1, 3, None]
