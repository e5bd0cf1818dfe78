"""Operations of XLA's that other ones express. Expected values are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.distribute.compiler import xla_ops
from penstock._src.graph import context


@pytest.mark.parametrize("start, wanted", [([1, 0], (1, 0)), ([3, 1], (2, 1)), ([-2, 9], (0, 2))])
def test_slices_are_moved_until_they_fit(start, wanted):
    i, j = wanted
    x, update = np.arange(16.).reshape(4, 4), np.full((2, 2), -1.)
    changed = x.copy()
    changed[i:i + 2, j:j + 2] = update
    with context.eager_mode():
        np.testing.assert_array_equal(xla_ops.dynamic_update_slice(x, update, start), changed)
        np.testing.assert_array_equal(xla_ops.dynamic_slice(x, start, [2, 2]), x[i:i + 2, j:j + 2])
        np.testing.assert_array_equal(tf.function(xla_ops.dynamic_update_slice)(
            tf.constant(x), tf.constant(update), tf.constant(start)), changed)
