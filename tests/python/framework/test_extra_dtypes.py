"""Values of the types that NumPy itself does not have."""
import numpy as np
import pytest

import penstock.v1 as tf


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.5, 1 / 3], tf.bfloat16)
        got = session.run(x)
        assert got.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(got, np.array([1.0, 2.5, 1 / 3], ml_dtypes.bfloat16))
        assert session.run(tf.cast(x, tf.float32))[2] == np.float32(0.333984375)
        fed = tf.placeholder(tf.bfloat16, [2])
        assert list(session.run(tf.cast(fed, tf.float32), {fed: np.array([3, 4], ml_dtypes.bfloat16)})) == [3.0, 4.0]
