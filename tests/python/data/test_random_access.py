"""tf.data.experimental.at: elements by their places."""
import pytest

import penstock as tf
from penstock.eager import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.mark.parametrize("make, index, expected", [
    (lambda: Dataset.range(5).map(lambda x: x * 2), 4, 8), (lambda: Dataset.range(5).batch(2), 2, [4]),
    (lambda: Dataset.range(3).repeat(2), 5, 2), (lambda: Dataset.range(2).concatenate(Dataset.range(5, 9)), 3, 6),
    (lambda: Dataset.range(9).shard(2, 1), 2, 5), (lambda: Dataset.range(5).skip(2).take(2).cache().prefetch(1), 1, 3),
])
def test_elements(make, index, expected):
    assert tf.data.experimental.at(make(), index).numpy().tolist() == expected


@pytest.mark.parametrize("make, index, error, message", [
    (lambda: Dataset.range(5), 5, tf.errors.OutOfRangeError, r"Index out of range \[0, 5\):5"),
    (lambda: Dataset.range(5), -1, tf.errors.OutOfRangeError, r"Index out of range \[0, 5\):-1"),
    (lambda: Dataset.range(3).repeat(), 1, tf.errors.FailedPreconditionError, "has infinite cardinality"),
    (lambda: Dataset.range(4).batch(2).unbatch(), 1, tf.errors.FailedPreconditionError, "has unknown cardinality"),
])
def test_no_elements(make, index, error, message):
    with pytest.raises(error, match=message):
        tf.data.experimental.at(make(), index)


@pytest.mark.parametrize("package, name", [
    (lambda: tf.data, "Dataset"), (lambda: tf.distribute, "MirroredStrategy"), (lambda: tf.profiler, "experimental"),
    (lambda: tf.autograph, "to_graph"), (lambda: tf.feature_column, "numeric_column")])
def test_packages_that_hold_files_list_their_public_names(package, name):
    assert name in dir(package())
