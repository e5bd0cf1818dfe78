"""tf.experimental.RowPartition; what it gives and refuses is TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

RowPartition = tf.experimental.RowPartition
WAYS = {
    "splits": lambda: RowPartition.from_row_splits([0, 2, 2, 5]),
    "lengths": lambda: RowPartition.from_row_lengths([2, 0, 3]),
    "rowids": lambda: RowPartition.from_value_rowids([0, 0, 2, 2, 2]),
    "starts": lambda: RowPartition.from_row_starts([0, 2, 2], 5),
    "limits": lambda: RowPartition.from_row_limits([2, 2, 5]),
}


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_make_one(way):
    p = WAYS[way]()
    for dtype in (tf.int64, tf.int32):
        p = p.with_dtype(dtype)
        parts = (p.row_splits(), p.value_rowids(), p.row_lengths(), p.row_starts(), p.row_limits(), p.offsets_in_rows())
        assert {t.dtype for t in (*parts, p.nrows(), p.nvals())} == {dtype} and p.dtype == dtype
        for got, want in zip(parts, ([0, 2, 2, 5], [0, 0, 2, 2, 2], [2, 0, 3], [0, 2, 2], [2, 2, 5], [0, 1, 0, 1, 2])):
            np.testing.assert_array_equal(got, want)
        assert int(p.nrows()) == 3 and int(p.nvals()) == 5 and p.static_nrows == 3 and not p.is_uniform()
    assert p.static_nvals == (5 if way in ("rowids", "starts") else None)
    assert p.uniform_row_length() is None and repr(p) == "tf.RowPartition(row_splits=[0 2 2 5])"


def test_a_tensor_says_the_type():
    assert RowPartition.from_row_starts([0, 2], tf.constant(5)).dtype == tf.int32
    assert RowPartition.from_uniform_row_length(2, nvals=tf.constant(6)).dtype == tf.int32
    assert RowPartition.from_row_splits(np.array([0, 2], np.int32)).dtype == tf.int32


def test_uniform():
    p = RowPartition.from_uniform_row_length(2, nvals=6)
    np.testing.assert_array_equal(p.row_splits(), [0, 2, 4, 6])
    assert p.is_uniform() and int(p.uniform_row_length()) == 2
    assert int(p.nrows()) == 3 and p.static_uniform_row_length == 2
    assert repr(p) == "tf.RowPartition(nrows=3, uniform_row_length=2)" and p.static_nvals == 6
    p = RowPartition.from_uniform_row_length(tf.constant(0), nvals=0, nrows=3)
    assert int(p.nrows()) == 3 and p.dtype == tf.int32 and p.value_rowids().shape == [0]
    assert int(RowPartition.from_uniform_row_length(2, nrows=2).nvals()) == 4


@pytest.mark.parametrize("make, error, message", [
    (lambda: RowPartition.from_row_splits([1, 2]), tf.errors.InvalidArgumentError, "zero"),
    (lambda: RowPartition.from_row_splits([0, 3, 2]), tf.errors.InvalidArgumentError, "monotonic"),
    (lambda: RowPartition.from_row_splits([]), ValueError, "may not be empty"),
    (lambda: RowPartition.from_row_splits([[1]]), ValueError, "must have rank 1"),
    (lambda: RowPartition.from_value_rowids([0, 2, 1]), tf.errors.InvalidArgumentError, "valid RowPartition"),
    (lambda: RowPartition.from_value_rowids([0, 2, 4], 3), ValueError, "nrows=3, value_rowids.-1.=4"),
    (lambda: RowPartition.from_value_rowids([0], -3), ValueError, "Expected nrows >= 0; got -3"),
    (lambda: RowPartition.from_row_lengths([-1, 2]), tf.errors.InvalidArgumentError, "valid RowPartition"),
    (lambda: RowPartition.from_row_starts([1, 2], 5), tf.errors.InvalidArgumentError, "from_row_starts"),
    (lambda: RowPartition.from_row_limits([3, 2]), tf.errors.InvalidArgumentError, "from_row_limits"),
    (lambda: RowPartition.from_uniform_row_length(2, nvals=5), ValueError, "must equal nvals=5"),
    (lambda: RowPartition.from_uniform_row_length(2), ValueError, "must be specified"),
    (lambda: RowPartition.from_row_splits([0.0]), (ValueError, TypeError), ""),
    (lambda: RowPartition([0]), ValueError, "private")])
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_goes_through_functions():
    p = WAYS["lengths"]()
    doubled = tf.function(lambda p: RowPartition.from_row_lengths(p.row_lengths() * 2))(p)
    np.testing.assert_array_equal(doubled.row_splits(), [0, 4, 4, 10])
    uniform = tf.function(lambda p: p)(RowPartition.from_uniform_row_length(2, nvals=6))
    assert uniform.is_uniform() and uniform.static_uniform_row_length == 2


def test_of_ragged_tensors():
    ragged = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
    np.testing.assert_array_equal(ragged._row_partition.row_splits(), [0, 2, 2, 5])
    assert tf.RaggedTensor._from_row_partition(tf.range(5), WAYS["splits"]()).to_list() == [[0, 1], [], [2, 3, 4]]
