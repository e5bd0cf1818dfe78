"""tf.contrib.sparsemax, with values and gradients of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

inf, nan = np.inf, np.nan


def _run(logits, labels, dtype=np.float32):
    """Probabilities, losses, gradients of the first column and of the losses."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.array(logits, dtype))
        p = tf.contrib.sparsemax.sparsemax(x)
        losses = tf.contrib.sparsemax.sparsemax_loss(x, p, np.array(labels, dtype))
        return session.run([p, losses, tf.gradients(p[:, :1], x)[0], tf.gradients(losses, x)[0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_gradients(dtype):
    found = _run([[1.0, 1.0, 1.0, 1.0], [3.0, 0.0, -1.0, 1.0], [0.5, 0.1, 0.0, -2.0]], np.eye(4)[:3], dtype)
    assert found[0].dtype == dtype
    expected = [[[0.25] * 4, [1.0, 0.0, 0.0, 0.0], [0.63333333, 0.23333333, 0.13333333, 0.0]], [0.375, 3.0, 0.60333333],
                [[0.75, -0.25, -0.25, -0.25], [0.0] * 4, [2 / 3, -1 / 3, -1 / 3, 0.0]],
                [[-0.75, 0.25, 0.25, 0.25], [1.0, -1.0, 0.0, 0.0], [0.63333333, 0.23333333, -0.86666667, 0.0]]]
    for value, wanted in zip(found, expected):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def test_infinite_logits():
    p, losses, _, gradient = _run([[0.0, inf, 1.0], [-inf, -inf, -inf], [nan, 0.0, 1.0], [-inf, 2.0, 1.0]],
                                  [[1.0, 0.0, 0.0]] * 4)
    np.testing.assert_array_equal(p, [[nan] * 3] * 3 + [[0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(losses, [nan, nan, nan, inf])
    np.testing.assert_array_equal(gradient[3], [-1.0, 1.0, 0.0])
