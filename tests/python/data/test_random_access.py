"""tf.data.experimental.at and global shuffles: elements by their places."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.data.experimental.ops.global_shuffle_op import _global_shuffle
from penstock._src.graph import context

Dataset = tf.data.Dataset
at = tf.data.experimental.at


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.mark.parametrize("make, index, expected", [
    (lambda: Dataset.range(5).map(lambda x: x * 2), 4, 8), (lambda: Dataset.range(5).batch(2), 2, [4]),
    (lambda: Dataset.range(5).map(lambda x: x * 2, num_parallel_calls=2), 3, 6),
    (lambda: Dataset.range(3).repeat(2), 5, 2), (lambda: Dataset.range(2).concatenate(Dataset.range(5, 9)), 3, 6),
    (lambda: Dataset.range(9).shard(2, 1), 2, 5), (lambda: Dataset.range(5).skip(2).take(2).cache().prefetch(1), 1, 3),
    (lambda: Dataset.range(8).batch(4, drop_remainder=True).unbatch(), 5, 5),
    (lambda: Dataset.range(6).filter(lambda x: x > 2).cache(), 2, 5),
    (lambda: Dataset.range(6).filter(lambda x: x > 2).repeat().cache(), 7, 4),
    (lambda: Dataset.range(4).shuffle(4, seed=3), 1, 2),  # as TensorFlow 2.21 has it
    (lambda: Dataset.range(9).apply(tf.data.experimental.assert_cardinality(9)), 8, 8),
])
def test_elements(make, index, expected):
    dataset = make()
    assert at(dataset, index).numpy().tolist() == expected
    assert at(dataset, tf.constant(index, tf.int64)).numpy().tolist() == expected


def test_elements_of_several_parts():
    dataset = Dataset.zip((Dataset.range(4), Dataset.from_tensor_slices({"a": ["p", "q", "r"]}))).enumerate()
    number, (first, second) = at(dataset, 2)
    assert (int(number), int(first), second["a"].numpy()) == (2, 2, b"r")


def test_places_of_a_shuffled_dataset_are_a_permutation():
    dataset = Dataset.range(10).shuffle(3)
    order = [int(at(dataset, i)) for i in range(10)]
    assert sorted(order) == list(range(10))
    assert [int(at(dataset, i)) for i in range(10)] == order
    assert [int(at(Dataset.range(10).shuffle(10, seed=3), i)) for i in range(10)] == [7, 2, 6, 8, 9, 1, 5, 3, 4, 0]


def test_a_cache_keeps_elements_that_were_asked_for():
    calls = []

    def count(x):
        calls.append(int(x))
        return x

    dataset = Dataset.range(9).map(lambda x: tf.numpy_function(count, [x], tf.int64)).cache()
    assert [int(at(dataset, i)) for i in (7, 2, 7)] == [7, 2, 7]
    assert calls == [7, 2]


def test_a_place_of_a_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        place = tf.compat.v1.placeholder(tf.int64, [])
        element = at(Dataset.range(5).map(lambda x: x * x), place)
        assert [session.run(element, {place: i}) for i in (3, 1)] == [9, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match=r"Index out of range \[0, 5\):5"):
            session.run(element, {place: 5})


@pytest.mark.parametrize("make, index, error, message", [
    (lambda: Dataset.range(5), 5, tf.errors.OutOfRangeError, r"Index out of range \[0, 5\):5"),
    (lambda: Dataset.range(5), -1, tf.errors.OutOfRangeError, r"Index out of range \[0, 5\):-1"),
    (lambda: Dataset.range(9).filter(lambda x: x > 2).cache(), 6, tf.errors.OutOfRangeError, r"range \[0, 6\):6"),
    (lambda: Dataset.range(3).repeat(), 1, tf.errors.FailedPreconditionError,
     "Dataset of type RepeatDatasetOp::Dataset has infinite cardinality, which does not support random access"),
    (lambda: Dataset.range(4).batch(2).unbatch(), 1, tf.errors.FailedPreconditionError, "has unknown cardinality"),
    (lambda: Dataset.range(4).filter(lambda x: x > 1), 1, tf.errors.UnimplementedError,
     "Random access is not implemented for dataset FilterDatasetOp::Dataset"),
    (lambda: Dataset.range(3).apply(tf.data.experimental.assert_cardinality(5)), 4, tf.errors.FailedPreconditionError,
     "was expected to contain 5 elements but contained only 3"),
])
def test_no_elements(make, index, error, message):
    with pytest.raises(error, match=message):
        at(make(), index)


def numbers(dataset):
    return [x.numpy().tolist() for x in dataset]


def test_a_global_shuffle_has_tensorflow_s_order():
    shuffled = _global_shuffle(Dataset.range(10), seed=1)
    assert numbers(shuffled) == [3, 4, 1, 8, 6, 0, 9, 2, 7, 5]
    once = _global_shuffle(Dataset.range(10), seed=7, reshuffle_each_iteration=False)
    assert numbers(once.repeat(2)) == [2, 7, 5, 8, 6, 3, 0, 9, 4, 1] * 2
    again = _global_shuffle(Dataset.range(10), seed=1).repeat(2)
    assert numbers(again) == [3, 4, 1, 8, 6, 0, 9, 2, 7, 5, 2, 6, 5, 8, 0, 7, 9, 4, 1, 3]
    assert numbers(_global_shuffle(Dataset.range(5).batch(2, drop_remainder=True), seed=5)) == [[2, 3], [0, 1]]


def test_a_global_shuffle_gives_all():
    dataset = Dataset.range(50).map(lambda x: x * 2).prefetch(2).concatenate(Dataset.range(1, 40, 2)).cache()
    shuffled = _global_shuffle(dataset.repeat(2))
    assert int(shuffled.cardinality()) == 140
    found = numbers(shuffled)
    assert sorted(found) == sorted([*range(0, 100, 2), *range(1, 40, 2)] * 2) != found


def test_a_global_shuffle_goes_on_where_it_stood(tmp_path):
    dataset = _global_shuffle(Dataset.range(9), seed=3)
    iterator = iter(dataset)
    first = [int(next(iterator)) for _ in range(4)]
    path = tf.train.Checkpoint(it=iterator).write(str(tmp_path / "c"))
    rest = numbers(iterator)
    assert sorted(first + rest) == list(range(9))
    other = iter(_global_shuffle(Dataset.range(9), seed=3))
    tf.train.Checkpoint(it=other).restore(path)
    assert numbers(other) == rest


@pytest.mark.parametrize("make, error, message", [
    (lambda: Dataset.range(3).take(0), tf.errors.InvalidArgumentError, "non-empty finite cardinality"),
    (lambda: Dataset.range(3).repeat(), tf.errors.FailedPreconditionError, r"`repeat\(-1\)` does not support random"),
    (lambda: Dataset.range(5).filter(lambda x: x > 1), tf.errors.FailedPreconditionError,
     "requires all upstream transformations be compatible with random access. Got: .*FilterDataset does not support"),
    (lambda: Dataset.range(5).batch(2), tf.errors.FailedPreconditionError, "with `drop_remainder=False`"),
    (lambda: Dataset.range(5).shuffle(2), tf.errors.FailedPreconditionError, "Shuffle.* does not support random"),
])
def test_no_global_shuffle(make, error, message):
    with pytest.raises(error, match=message):
        _global_shuffle(make())


def test_index_shuffle():
    shuffle = tf.random.experimental.index_shuffle
    assert shuffle(tf.range(5), [1, 2], 4).numpy().tolist() == [2, 0, 1, 4, 3]
    large = shuffle(np.arange(4), [1, 2], np.full([4], 70000)).numpy()  # as TensorFlow 2.21 has it
    assert large.tolist() == [66456, 11713, 37902, 5407]
    assert int(shuffle(np.int64(1), [1, 2], np.int64(2**33))) == 1361024232
    assert sorted(shuffle(np.arange(300), [7, 8], np.int64(299)).numpy()) == list(range(300))
    assert shuffle(np.int32(3), [[1, 2], [5, 9]], np.int32(3)).numpy().tolist() == [3, 3]
    for bad in (lambda: shuffle(5, [1, 2], 4), lambda: shuffle(0, [1, 2], -1), lambda: shuffle([0], [1, 2, 3], 4)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            bad()


@pytest.mark.parametrize("package, name", [
    (lambda: tf.data, "Dataset"), (lambda: tf.distribute, "MirroredStrategy"), (lambda: tf.profiler, "experimental"),
    (lambda: tf.autograph, "to_graph"), (lambda: tf.feature_column, "numeric_column")])
def test_packages_that_hold_files_list_their_public_names(package, name):
    assert name in dir(package())
