"""Elements written to files and read back: save, load, snapshot. TensorFlow 2.21 wrote `saved_by_tensorflow/`."""
import os

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset
THEIRS = os.path.join(os.path.dirname(__file__), "saved_by_tensorflow")


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def triples(n=10):
    return Dataset.range(n).map(lambda x: (x, tf.strings.as_string(x), tf.fill([3], tf.cast(x, tf.float32))))


def plain(dataset):
    return [tuple(np.asarray(part).tolist() for part in element) for element in dataset.as_numpy_iterator()]


def files_below(path):
    return sorted(os.path.relpath(os.path.join(where, name), path) for where, _, names in os.walk(path)
                  for name in names)


@pytest.mark.parametrize("name, compression", [("plain", None), ("gz", "GZIP"), ("snappy", "SNAPPY")])
def test_what_tensorflow_saved_is_loaded(name, compression):
    dataset = Dataset.load(os.path.join(THEIRS, name), compression=compression)
    assert dataset.element_spec == triples().element_spec
    assert int(dataset.cardinality()) == 10
    assert plain(dataset) == plain(triples())


def test_shards_that_tensorflow_saved_are_read_in_the_readers_order():
    def reader(datasets):
        return datasets.flat_map(lambda shard: shard)
    loaded = plain(Dataset.load(os.path.join(THEIRS, "sharded"), reader_func=reader))
    assert [x for x, _, _ in loaded] == [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]


def test_composite_elements_that_tensorflow_saved():
    ragged = Dataset.load(os.path.join(THEIRS, "ragged"))
    assert [x.numpy().tolist() for x in ragged] == [[[0]], [[0, 1]], [[0, 1, 2]]]
    sparse = Dataset.load(os.path.join(THEIRS, "sparse"))
    assert [tf.sparse.to_dense(x).numpy().tolist() for x in sparse] == [[0, 0, 1], [1, 0, 1], [2, 0, 1]]


@pytest.mark.parametrize("compression", [None, "GZIP", "SNAPPY"])
def test_saved_and_loaded(compression, tmp_path):
    path = str(tmp_path / "saved")
    triples(300).save(path, compression=compression)
    run, = [name for name in os.listdir(path) if name.isdigit()]
    assert files_below(path) == [f"{run}/00000000.shard/00000000.snapshot", "dataset_spec.pb", "snapshot.metadata"]
    assert plain(Dataset.load(path, compression=compression)) == plain(triples(300))


def test_saved_shards_and_other_structures(tmp_path):
    path = str(tmp_path)
    dataset = Dataset.range(6).map(
        lambda x: {"r": tf.ragged.range(tf.cast(x, tf.int32)), "s": tf.sparse.from_dense([x, 0])})
    dataset.save(path, shard_func=lambda element: tf.sparse.to_dense(element["s"])[0] % 2)
    assert len(files_below(path)) == 4
    loaded = list(Dataset.load(path, reader_func=lambda shards: shards.flat_map(lambda shard: shard)))
    assert [x["r"].numpy().tolist() for x in loaded] == [[list(range(n))] for n in (0, 2, 4, 1, 3, 5)]


def test_saving_goes_on_where_it_was_interrupted(tmp_path):
    from penstock._src.data.experimental.ops.io import _SaveDataset
    path = str(tmp_path / "saved")
    saving = iter(_SaveDataset(Dataset.range(10), path, None, None))
    for _ in range(4):
        next(saving)
    state = tf.train.Checkpoint(iterator=saving).save(str(tmp_path / "state"))
    next(saving)  # is written twice, if what comes after the checkpoint is kept
    del saving
    again = iter(_SaveDataset(Dataset.range(10), path, None, None))
    tf.train.Checkpoint(iterator=again).restore(state)
    assert [int(x) for x in again] == list(range(4, 10))
    assert [int(x) for x in Dataset.load(path)] == list(range(10))


def test_there_is_nothing_to_load(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match="snapshot.metadata"):
        Dataset.load(str(tmp_path), element_spec=tf.TensorSpec([], tf.int64))


def test_damaged_files(tmp_path):
    path = str(tmp_path)
    Dataset.range(5).save(path)
    file, = tmp_path.glob("*/*/*.snapshot")
    file.write_bytes(file.read_bytes()[:-7])
    iterator = iter(Dataset.load(path))
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(tf.errors.DataLossError):
        next(iterator)
    (tmp_path / "snapshot.metadata").write_bytes(b"\xff")
    with pytest.raises(tf.errors.DataLossError):
        Dataset.load(path)


class Counting:
    """A dataset whose elements are counted when they are made."""

    def __init__(self):
        self.made = 0

    def dataset(self, n=10):
        def count(x):
            self.made += 1
            return x
        return Dataset.range(n).map(lambda x: tf.ensure_shape(tf.py_function(count, [x], tf.int64), []))


@pytest.mark.parametrize("options", [{}, {"compression": None}, {"compression": "GZIP", "shard_func": lambda x: x % 2}])
def test_a_snapshot_is_written_once(options, tmp_path):
    counting = Counting()
    dataset = counting.dataset().snapshot(str(tmp_path), **options)
    for _ in range(3):
        assert sorted(int(x) for x in dataset) == list(range(10))
    assert counting.made == 10
    assert len(list(tmp_path.iterdir())) == 1


def test_a_snapshot_that_was_not_finished_is_written_again(tmp_path):
    counting = Counting()
    dataset = counting.dataset().snapshot(str(tmp_path))
    writes = iter(dataset)
    next(writes)
    assert [int(x) for x in dataset] == list(range(10))
    directory, = tmp_path.iterdir()
    assert len(list(directory.iterdir())) == 3  # two runs, metadata
    assert [int(x) for x in writes] == list(range(1, 10))
    before = counting.made
    assert sorted(int(x) for x in dataset) == list(range(10)) and counting.made == before


def test_pipelines_that_differ_have_snapshots_of_their_own(tmp_path):
    for build in (lambda: Dataset.range(5), lambda: Dataset.range(6), lambda: Dataset.range(5).map(lambda x: x + 1),
                  lambda: Dataset.range(5).map(lambda x: x + 2), lambda: Dataset.range(5)):
        assert sorted(build().snapshot(str(tmp_path)).as_numpy_iterator()) == sorted(build().as_numpy_iterator())
    assert len(list(tmp_path.iterdir())) == 4
