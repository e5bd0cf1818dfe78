"""Damaged states of iterators and files of saved elements are refused; the iterator begins anew."""
import os

import numpy as np
import pytest

import penstock as tf
from penstock._src.data.ops import dataset_ops
from penstock._src.graph import context

Dataset = dataset_ops.DatasetV2


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def changed_state(iterator, changes):
    """The iterator's state with other values for the keys that end as those in `changes` do."""
    saved = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    proto = tf.make_tensor_proto(0)
    proto.ParseFromString(tf.io.serialize_tensor(saved).numpy())
    state = proto.variant_val[0]
    for end, value in changes.items():
        at = next(i for i, key in enumerate(state.metadata.decode().split("\n")) if key.endswith(end))
        state.tensors[at].CopyFrom(tf.make_tensor_proto(value))
    return tf.io.parse_tensor(proto.SerializeToString(), tf.variant)


def restore(iterator, state):
    tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=state)


def batches(n):
    return Dataset.range(9).batch(n)


PIPELINES = {
    "slices": (lambda: Dataset.from_tensor_slices(np.arange(5)), {"next": np.int64(-1)}),
    "concatenate": (lambda: Dataset.range(2).concatenate(Dataset.range(2)), {"at": np.int64(7)}),
    "concatenate_ended": (lambda: Dataset.range(2).concatenate(Dataset.range(2)), {"there": False}),
    "shuffle": (lambda: Dataset.range(9).shuffle(4, seed=1), {"rounds/0": np.int64(2**40)}),
    "shuffle_size": (lambda: Dataset.range(9).shuffle(4, seed=1), {"buffer/size": np.int64(2**60)}),
    "shuffle_size_negative": (lambda: Dataset.range(9).shuffle(4, seed=1), {"rounds/size": np.int64(-1)}),
    "interleave": (lambda: Dataset.range(3).interleave(lambda x: Dataset.range(3), 2), {"at": np.int64(2**33)}),
    "parallel_interleave": (
        lambda: Dataset.range(3).interleave(lambda x: Dataset.range(3), 2, num_parallel_calls=2),
        {"at": np.int64(-3)},
    ),
    "prefetch": (lambda: Dataset.range(9).prefetch(2), {"size": np.int64(2**50)}),
    "unbatch": (lambda: batches(3).unbatch(), {"rows": np.int64(2**40)}),
    "unbatch_scalar": (lambda: batches(3).unbatch(), {"batch/0": np.int64(5)}),
    "rebatch": (lambda: batches(3).rebatch([2, 1]), {"turn": np.int64(2)}),
    "cache": (lambda: Dataset.range(4).cache(), {"complete": True}),
    "windows": (lambda: Dataset.range(9).window(2, 4), {"gap": np.int64(2**62)}),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_damaged_state(name):
    make, changes = PIPELINES[name]
    iterator = iter(make())
    next(iterator)
    state = changed_state(iterator, changes)
    with pytest.raises(tf.errors.InvalidArgumentError, match="saved state"):
        restore(iterator, state)
    assert len(list(iterator)) == len(list(make()))


def test_a_state_in_which_all_choices_have_ended():
    iterator = iter(Dataset.choose_from_datasets([Dataset.range(5), Dataset.range(9)], Dataset.range(2).repeat()))
    state = changed_state(iterator, {"input_1/there": False, "input_2/there": False})
    restore(iterator, state)
    assert not list(iterator)


def test_a_state_names_no_other_directory(tmp_path):
    list(Dataset.range(3).snapshot(str(tmp_path / "snapshot")))
    os.mkdir(tmp_path / "snapshot" / "kept.shard")
    kept = tmp_path / "snapshot" / "kept.shard" / "00000009.snapshot"
    kept.write_bytes(b"")
    iterator = iter(Dataset.range(5).snapshot(str(tmp_path / "snapshot")))
    next(iterator)
    state = changed_state(iterator, {"run/run_id": b".."})
    with pytest.raises(tf.errors.InvalidArgumentError, match="saved state"):
        restore(iterator, state)
    assert kept.exists()


def test_the_metadata_of_a_snapshot_names_no_other_directory(tmp_path):
    Dataset.range(3).save(str(tmp_path / "saved"))
    metadata = tmp_path / "saved" / "snapshot.metadata"
    run = next(name for name in os.listdir(tmp_path / "saved") if name.isdigit()).encode()
    other = (b"../saved/" + run)[: len(run)]
    metadata.write_bytes(metadata.read_bytes().replace(run, other))
    with pytest.raises(tf.errors.DataLossError, match="metadata"):
        Dataset.load(str(tmp_path / "saved"))


def test_a_damaged_specification_of_elements(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.range(3).save(path)
    (tmp_path / "saved" / "dataset_spec.pb").write_bytes(b"\xff")
    with pytest.raises(tf.errors.DataLossError, match="dataset_spec.pb"):
        Dataset.load(path)


NESTED = {
    "interleave": lambda: Dataset.from_tensors(Dataset.range(5, 25).shuffle(4, seed=1)).repeat(2).interleave(
        lambda d: d, cycle_length=2),
    "parallel_interleave": lambda: Dataset.from_tensors(Dataset.range(20)).repeat(2).interleave(
        lambda d: d.map(lambda x: 2 * x), cycle_length=2, num_parallel_calls=2),
    "flat_map": lambda: Dataset.range(4).map(lambda x: Dataset.range(10 * x, 10 * x + 5)).flat_map(
        lambda d: d.map(lambda x: x + 1)),
    "slices": lambda: Dataset.from_tensor_slices([Dataset.range(8), Dataset.range(10, 19)]).flat_map(lambda d: d),
    "prefetch": lambda: Dataset.range(6).map(lambda x: (x, Dataset.range(x))).prefetch(3).flat_map(
        lambda x, d: d.concatenate(Dataset.from_tensors(x))),
    "window": lambda: Dataset.range(20).window(5, 2).prefetch(2).flat_map(lambda d: d.batch(2)),
    "group": lambda: Dataset.range(30).group_by_window(lambda x: x % 3, lambda k, d: Dataset.zip((d, d.skip(1))), 4),
    "batched": lambda: Dataset.range(6).map(lambda x: Dataset.range(10 * x, 10 * x + 3)).batch(2).prefetch(1).unbatch(
        ).flat_map(lambda d: d),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("taken", [1, 7])
def test_states_that_hold_datasets_are_written_to_files(name, taken, tmp_path):
    def begun():
        return iter(NESTED[name]())

    def parts(iterator):
        return [[p.numpy().tolist() for p in tf.nest.flatten(element)] for element in iterator]

    iterator = begun()
    for _ in range(taken):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
    rest = parts(iterator)
    again = begun()
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    assert parts(again) == rest and rest


@pytest.mark.usefixtures("version_two")
@pytest.mark.parametrize("ahead", ["prefetch", "map"])
def test_threads_wait_until_all_is_saved(ahead, tmp_path):
    """Rounds that begin while other parts are saved draw no seeds from what the rounds share."""
    def slow(x):
        square = tf.fill([160, 160], tf.cast(x, tf.float32))
        return x + tf.cast(0 * tf.reduce_sum(tf.linalg.matmul(square, square)), tf.int64)

    def make():
        rounds = tf.data.Dataset.range(8).shuffle(8, seed=3).repeat()
        rounds = rounds.map(slow).prefetch(10000) if ahead == "prefetch" else rounds.map(slow, 2000)
        long_to_save = tf.data.Dataset.range(10**9).shuffle(30000, seed=4)
        return tf.data.Dataset.zip((rounds, long_to_save)).map(lambda x, _: x)

    whole = [int(x) for x in make().take(200)]
    for taken in range(5, 10):
        iterator = iter(make())
        values = [int(next(iterator)) for _ in range(taken)]
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "saved"))
        iterator = iter(make())
        tf.train.Checkpoint(iterator=iterator).restore(path)
        values += [int(next(iterator)) for _ in range(150)]
        assert values == whole[:len(values)]
