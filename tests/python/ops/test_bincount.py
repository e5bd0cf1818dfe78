"""Counts of dense, sparse and ragged values; expected values are NumPy's, for bad input TensorFlow's words."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.ops.ragged import bincount_ops

ROWS = [[1, 2, 2], [], [0, 5]]
FLAT = [value for row in ROWS for value in row]
WEIGHTS = [[.5, 1., 2.], [], [3., 4.]]
NO_WEIGHTS = np.zeros(0, np.float32)


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def counted(rows, weights=None, size=6, binary=False):
    out = [np.bincount(np.array(row, int), None if weights is None else weights[i], size)[:size]
           for i, row in enumerate(rows)]
    return np.minimum(out, 1) if binary else np.array(out)


def sparse(ragged):
    """The same values, a place for each."""
    return ragged.to_sparse()


@pytest.mark.parametrize("form", [lambda x: x, sparse])
def test_bincount_of_rows(form):
    values, weights = form(tf.ragged.constant(ROWS)), form(tf.ragged.constant(WEIGHTS))
    np.testing.assert_array_equal(tf.math.bincount(values, axis=-1), counted(ROWS))
    np.testing.assert_array_equal(tf.math.bincount(values, axis=-1, binary_output=True), counted(ROWS, binary=True))
    np.testing.assert_allclose(tf.math.bincount(values, weights, axis=-1), counted(ROWS, WEIGHTS))
    np.testing.assert_array_equal(tf.math.bincount(values, axis=-1, maxlength=2), counted(ROWS)[:, :2])
    assert tf.math.bincount(values, axis=-1, minlength=9, dtype=tf.int64).shape == (3, 9)
    np.testing.assert_array_equal(tf.math.bincount(values), np.bincount(FLAT))
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.math.bincount(values, weights, binary_output=True)
    with pytest.raises(ValueError, match="axis=1"):
        tf.math.bincount(values, axis=1)
    with pytest.raises(ValueError, match="`weights` must be"):
        tf.math.bincount(values, [1.], axis=-1)


def test_bincount_of_dense_values():
    values = np.array([[1, 2, 2], [0, 5, 5]])
    np.testing.assert_array_equal(tf.math.bincount(values, axis=-1), counted(values))
    np.testing.assert_array_equal(tf.math.bincount(values), np.bincount(values.ravel()))
    np.testing.assert_array_equal(tf.math.bincount([0.5, 2.5]), [1, 0, 1])
    assert tf.math.bincount(np.zeros([0], np.int32)).shape == (0,)


@pytest.mark.parametrize("form", [lambda x: x, sparse])
def test_sparse_bincount(form):
    values, weights = form(tf.ragged.constant(ROWS)), form(tf.ragged.constant(WEIGHTS))
    counts = tf.sparse.bincount(values, axis=-1)
    assert counts.indices.numpy().tolist() == [[0, 1], [0, 2], [2, 0], [2, 5]]
    assert counts.values.numpy().tolist() == [1, 2, 1, 1] and counts.dtype == tf.int32
    assert counts.dense_shape.numpy().tolist() == [3, 6]
    weighted = tf.sparse.bincount(values, weights, axis=-1)
    np.testing.assert_allclose(tf.sparse.to_dense(weighted), counted(ROWS, WEIGHTS))
    ones = tf.sparse.bincount(values, axis=-1, binary_output=True, minlength=8)
    assert ones.values.numpy().tolist() == [1, 1, 1, 1] and ones.dense_shape.numpy().tolist() == [3, 8]
    assert tf.sparse.bincount(values, axis=-1, maxlength=2).indices.numpy().tolist() == [[0, 1], [2, 0]]
    flat = tf.sparse.bincount(values)
    assert flat.indices.numpy().tolist() == [[0], [1], [2], [5]] and flat.values.numpy().tolist() == [1, 1, 2, 1]


def test_sparse_bincount_of_dense_values():
    counts = tf.sparse.bincount([[1, 2, 2], [0, 0, 5]], axis=-1)
    assert counts.indices.numpy().tolist() == [[0, 1], [0, 2], [1, 0], [1, 5]]
    assert counts.values.numpy().tolist() == [1, 2, 2, 1]
    assert tf.sparse.bincount(np.zeros([0], np.int64)).dense_shape.numpy().tolist() == [1]


@pytest.mark.parametrize("changed, words", [
    ({"splits": [0, 2, 4]}, "Splits must end with the number of values, got 4 instead of 3"),
    ({"splits": [1, 2, 3]}, "Splits must start with 0, not with 1"),
    ({"splits": np.zeros(0, np.int64)}, "Splits must be non-empty"),
    ({"splits": [0, 7, 3]}, "Splits must not decrease"),
    ({"size": -1}, r"size \(-1\) must be non-negative"),
    ({"values": [-1, 2, 2]}, "Input must be non-negative"),
    ({"weights": np.ones(2, np.float32)}, "weights must have as many elements"),
])
def test_ragged_bincount_refuses(changed, words):
    good = {"splits": [0, 2, 3], "values": [1, 2, 2], "size": 4, "weights": NO_WEIGHTS}
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.raw_ops.RaggedBincount(**{**good, **changed})


@pytest.mark.parametrize("changed, words", [
    ({"indices": [[5, 0], [0, 1], [1, 3]]}, "out of bounds"),
    ({"values": [1, 2]}, "Number of values must match"),
    ({"values": [-1, 2, 2]}, "Input values must all be non-negative"),
    ({"weights": np.ones(1, np.float32)}, "Weights and values must have the same shape"),
    ({"dense_shape": np.zeros(0, np.int64), "indices": np.zeros([3, 0], np.int64)}, "at least one dimension"),
])
def test_sparse_counts_refuse(changed, words):
    good = {"indices": [[0, 0], [0, 1], [1, 3]], "values": [1, 2, 2], "dense_shape": [2, 4], "weights": NO_WEIGHTS}
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.raw_ops.SparseCountSparseOutput(binary_output=False, **{**good, **changed})


def test_names_of_tensorflows_modules():
    assert bincount_ops.bincount is bincount_ops.bincount and bincount_ops.sparse_bincount is tf.sparse.bincount


def test_no_columns_at_all():
    for values in (tf.constant([[1, 2], [0, 5]]), tf.ragged.constant(ROWS), sparse(tf.ragged.constant(ROWS))):
        for axis, shape in ((0, [0]), (-1, [values.shape[0], 0])):
            counts = tf.sparse.bincount(values, maxlength=0, axis=axis)
            assert counts.dense_shape.numpy().tolist() == shape and counts.values.shape == [0]
