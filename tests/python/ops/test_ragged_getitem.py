"""Indexing of ragged tensors with uniform dimensions in version 2. Expected values: TensorFlow 2.21's."""
import pytest

import penstock.v2 as tf


@pytest.fixture(autouse=True)
def eager(version_two):
    """Ragged tensors of version 1 have no uniform dimensions."""


def _shown(x):
    length = getattr(x, "uniform_row_length", None)
    return (x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist(), x.shape.as_list(),
            None if length is None else int(length))


def test_columns_of_uniform_rows():
    rt = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)
    assert _shown(rt[:, 0]) == ([0, 2, 4], [3], None)
    assert _shown(rt[:, -1]) == ([1, 3, 5], [3], None)
    assert _shown(rt[:, tf.constant(1)]) == ([1, 3, 5], [3], None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index out of bounds when indexing into a ragged tensor"):
        rt[:, 2]
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        tf.ragged.constant([[1], [2, 3]])[:, 0]
    inner = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [], [4]]), 2)
    assert _shown(inner[:, 1]) == ([[2, 3], [4]], [2, None], None)
    assert _shown(inner[:, 1, :1]) == ([[2], [4]], [2, None], None)


def test_slices_keep_rows_uniform():
    rt = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)
    assert _shown(rt[1:]) == ([[2, 3], [4, 5]], [2, 2], 2)
    assert _shown(rt[::2]) == ([[0, 1], [4, 5]], [2, 2], 2)
    assert _shown(rt[5:]) == ([], [0, 2], 2)
    assert _shown(rt[:, 1:]) == ([[1], [3], [5]], [3, 1], 1)
    assert _shown(rt[:, ::-1]) == ([[1, 0], [3, 2], [5, 4]], [3, 2], 2)
    assert _shown(rt[:, 3:]) == ([[], [], []], [3, 0], 0)


def test_new_dimensions_are_uniform():
    rt = tf.ragged.constant([[1, 2], [3]])
    assert _shown(rt[:, tf.newaxis]) == ([[[1, 2]], [[3]]], [2, 1, None], 1)
    assert _shown(rt[tf.newaxis]) == ([[[1, 2], [3]]], [1, 2, None], 2)
