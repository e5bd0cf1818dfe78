"""Datasets as programs of version 2 use them: names, shapes, messages, states. The values are TensorFlow 2.21's."""
import importlib
import multiprocessing
import pathlib
import shutil
import time

import numpy as np
import pytest

import penstock as tf
from penstock._src.data.ops import dataset_ops, readers
from penstock._src.graph import config
from penstock._src.base import mode, tf2
from penstock.alias import finder

Dataset = dataset_ops.DatasetV2

pytestmark = pytest.mark.usefixtures("version_two")


def values(dataset):
    return [tf.nest.map_structure(lambda part: part.numpy().tolist(), element) for element in dataset]


def test_internal_names_are_of_the_version_in_use(monkeypatch):
    both = [(finder.internal_module(module), name) for module, name in (
        ("data.ops.dataset_ops", "Dataset"), ("data.ops.readers", "TFRecordDataset"),
        ("data.experimental.ops.readers", "CsvDataset"), ("data.experimental.ops.readers", "make_csv_dataset"),
        ("data.experimental.ops.counter", "Counter"))]
    assert [getattr(module, name).__name__[-2:].upper() for module, name in both] == ["V2"] * 5
    monkeypatch.setattr(tf2, "enabled", lambda: False)
    assert [getattr(module, name).__name__[-2:].upper() for module, name in both] == ["V1"] * 5


# Batches


@pytest.mark.parametrize("size, sizes, dropped, static, expected", [
    (4, 2, False, 2, [[0, 1], [2, 3], [4, 5], [6, 7]]), (4, [2, 2], False, 2, [[0, 1], [2, 3], [4, 5], [6, 7]]),
    (4, 3, False, None, [[0, 1, 2], [3, 4, 5], [6, 7]]), (4, 3, True, 3, [[0, 1, 2], [3, 4, 5]]),
    (4, [0, 3], False, None, [[], [0, 1, 2], [], [3, 4, 5], [], [6, 7]]),
    (4, [0, 3], True, None, [[], [0, 1, 2], [], [3, 4, 5], []]),
    (8, [0, 0, 8], False, None, [[], [], [0, 1, 2, 3, 4, 5, 6, 7], [], []]),
])
def test_rebatch(size, sizes, dropped, static, expected):
    made = Dataset.range(8).batch(size, drop_remainder=True).rebatch(sizes, drop_remainder=dropped)
    assert made.element_spec.shape.as_list() == [static]
    assert values(made) == expected


def test_rebatch_of_rows_of_any_length():
    ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4]])).batch(2).rebatch(3)
    assert [batch.to_list() for batch in ragged] == [[[1], [2, 3], []], [[4]]]
    with pytest.raises(ValueError, match="Expected dataset with rank of >= 1 but found a dataset with scalar elements"):
        Dataset.range(4).rebatch(2)


def test_ragged_batches_of_elements_without_rows():
    made = Dataset.range(3).map(lambda x: tf.fill([2, x, 3, 2 * x, 4], x)).ragged_batch(3)
    batch, = made
    assert [splits.numpy().tolist() for splits in batch.nested_row_splits] == [
        [0, 2, 4, 6], [0, 0, 0, 1, 2, 4, 6], [0, 3, 6, 9, 12, 15, 18],
        np.cumsum([0] + [2] * 6 + [4] * 12).tolist()]


def test_padding_values_of_several_parts():
    rows = Dataset.from_tensor_slices([2, 1]).map(lambda n: (tf.fill([n], 7), (tf.fill([n], 8), tf.fill([n], 9))))
    (first, (second, third)), = values(rows.padded_batch(2, padding_values=(1, None)))
    assert (first, second, third) == ([[7, 7], [7, 1]], [[8, 8], [8, 0]], [[9, 9], [9, 0]])
    half = Dataset.from_tensor_slices([2, 1]).map(lambda n: tf.fill([n], tf.constant(3, tf.bfloat16)))
    assert [b.numpy().astype("f").tolist() for b in half.padded_batch(2)] == [[[3, 3], [3, 0]]]


@pytest.mark.parametrize("make, error, message", [
    (lambda: Dataset.range(3).window(2).padded_batch(2), TypeError, "is not supported for datasets of datasets"),
    (lambda: Dataset.range(3).map(lambda x: tf.sparse.from_dense([x])).padded_batch(2), TypeError,
     "is not a subclass of TensorSpec: `SparseTensorSpec"),
    (lambda: Dataset.range(3).padded_batch(2, [[1, 1], [1, 1]]), ValueError, "must be a `tf.int64` vector tensor"),
    (lambda: Dataset.range(3).padded_batch(2, [1]), ValueError, r"shape \(\) of the corresponding input component"),
    (lambda: Dataset.range(3).concatenate(Dataset.zip((Dataset.range(2), Dataset.range(2)))), TypeError,
     "Incompatible dataset elements"),
    (lambda: Dataset.range(3).flat_map(lambda x: x), TypeError, "The `map_func` argument must return a `Dataset`"),
    (lambda: Dataset.range(3).scan(np.int64(0), lambda state, x: state), TypeError,
     "`scan_func` should return a pair consisting of new state and the output value"),
    (lambda: readers.TextLineDatasetV2([1]), TypeError, "must contain `tf.string` elements. Got `tf.int32` elements"),
    (lambda: readers.TextLineDatasetV2(Dataset.range(2)), TypeError, "Got a dataset of `tf.int64` elements"),
    (lambda: Dataset.choose_from_datasets([Dataset.range(2)], [0]), TypeError, "should be a `tf.data.Dataset` but is"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(2)] * 2, [1.0]), ValueError, "should have the same length"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(2), Dataset.from_tensors(1)]), TypeError,
     "must have compatible element specs"),
    (lambda: Dataset.range(3).options().merge(3), TypeError, "Could not merge incompatible options of type"),
])
def test_messages(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_options_of_a_dataset_cannot_be_changed():
    options = tf.data.Options()
    options.framework_type = ["seqio"]
    more = tf.data.Options()
    more.framework_type = ["grain"]
    found = Dataset.range(3).with_options(options).map(lambda x: x).with_options(more).options()
    assert found.framework_type == ["seqio", "grain"]
    for dataset_options in (found, Dataset.range(3).options()):
        with pytest.raises(ValueError, match="has no effect"):
            dataset_options.deterministic = True


# Shuffles


@pytest.mark.parametrize("make, passes", [
    (lambda: Dataset.range(5).shuffle(9, seed=92).batch(2).repeat(2),
     [[[1, 4], [0, 3], [2], [1, 2], [3, 0], [4]], [[3, 1], [2, 0], [4], [1, 4], [0, 2], [3]],
      [[3, 2], [4, 0], [1], [4, 2], [1, 3], [0]]]),
    (lambda: Dataset.range(5).shuffle(3, seed=92, reshuffle_each_iteration=False).batch(2).repeat(2),
     3 * [2 * [[2, 1], [0, 4], [3]]]),
    (lambda: Dataset.range(5).shuffle(3, seed=92).shuffle(4, seed=1).batch(2).repeat(2).repeat(2),
     [[[2, 0], [4, 3], [1], [3, 2], [0, 1], [4], [3, 2], [4, 0], [1], [1, 4], [3, 2], [0]],
      [[0, 4], [1, 3], [2], [3, 1], [4, 2], [0], [0, 2], [4, 1], [3], [1, 3], [0, 2], [4]],
      [[3, 0], [4, 2], [1], [3, 0], [1, 4], [2], [3, 4], [0, 2], [1], [1, 2], [0, 4], [3]]]),
    (lambda: Dataset.range(5).shuffle(3, seed=92).batch(2).repeat().take(4),  # left in the second round
     [[[2, 3], [4, 1], [0], [1, 0]], [[0, 2], [3, 1], [4], [2, 0]], [[1, 2], [4, 0], [3], [1, 3]]]),
    (lambda: Dataset.range(5).shuffle(-2, seed=92).repeat(3),
     [[1, 4, 0, 3, 2, 1, 2, 3, 0, 4, 1, 3, 0, 2, 4], [3, 1, 2, 0, 4, 1, 4, 0, 2, 3, 0, 2, 4, 3, 1],
      [3, 2, 4, 0, 1, 4, 2, 1, 3, 0, 1, 4, 3, 2, 0]]),
])
def test_which_rounds_draw_seeds(make, passes):
    tf.random.set_seed(5)
    dataset = make()
    assert [values(dataset) for _ in passes] == passes


# Choosing


def test_datasets_without_weight():
    sources = [Dataset.range(3), Dataset.range(10, 13)]
    assert values(Dataset.sample_from_datasets(sources, [0.0, 0.0])) == []
    assert values(Dataset.sample_from_datasets(sources, np.array([0.0, 1.0]))) == [10, 11, 12]


def test_resampled_classes_are_those_of_their_elements():
    data = Dataset.from_tensor_slices(np.arange(400) * 7 % 5)
    made = data.shuffle(50).repeat().rejection_resample(lambda c: c, [0.9, 0.05, 0.05, 0, 0], [0.2] * 5, seed=27)
    pairs = values(made.take(200))
    assert all(c == x for c, x in pairs)
    assert sum(c == 0 for c, _ in pairs) > 150
    for target, initial in (("float32", "float64"), ("float64", None)):
        found = data.rejection_resample(lambda c: c % 2, np.array([0.5, 0.5], target),
                                        initial and np.array([0.5, 0.5], initial))
        next(iter(found))


def test_elements_of_one_dataset_at_a_time_where_one_is_read_at_a_time():
    made = Dataset.range(3).interleave(lambda x: Dataset.from_tensors(x).repeat(2), num_parallel_calls=1)
    assert values(made) == [0, 0, 1, 1, 2, 2]
    cycle = (multiprocessing.cpu_count() + 2) // 3
    made = Dataset.range(4).interleave(lambda x: Dataset.from_tensors(x).repeat(2), num_parallel_calls=-1)
    assert values(made) == values(Dataset.range(4).interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle))


@pytest.mark.parametrize("make, cardinality", [
    (lambda d: d.interleave(lambda x: Dataset.range(2), num_parallel_calls=2), -1),
    (lambda d: d.group_by_window(lambda x: x, lambda k, w: w.batch(2), window_size=2), -1),
    (lambda d: d.enumerate(), -1), (lambda d: d.ignore_errors(), -2)])
def test_cardinality_of_what_has_no_end(make, cardinality):
    assert int(make(Dataset.range(4).repeat()).cardinality()) == cardinality


def test_many_empty_rounds_of_a_shuffle():
    sizes = iter([0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0])
    made = Dataset.from_generator(lambda: range(next(sizes)), output_signature=tf.TensorSpec([], tf.int64))
    assert sorted(values(made.shuffle(10).repeat(12).take(3))) == [0, 0, 1]


def test_parallel_stages_give_the_same_each_time_where_results_must_not_differ(monkeypatch):
    monkeypatch.setattr(config, "_op_determinism", False)
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(3)
    seen = []

    def note(x):
        time.sleep(0.002 * (x % 3 == 0))
        seen.append(int(x))
        return np.int64(len(seen))

    def drawn(x):
        return tf.random.uniform([], 0, 1000, tf.int64)

    noted = Dataset.range(12).map(lambda x: tf.numpy_function(note, [x], tf.int64), num_parallel_calls=4)
    assert values(noted) == list(range(1, 13)) and seen == list(range(12))
    sums = tf.Variable(0, dtype=tf.int64)
    summed = Dataset.range(12).map(lambda x: tf.cond(x > 1, lambda: sums.assign_add(x), lambda: x),
                                   num_parallel_calls=4)
    assert values(summed) == [0, 1, *np.cumsum(range(2, 12)).tolist()]
    with pytest.warns(UserWarning, match="Seed 3 from outer graph"):
        numbers = Dataset.range(4).interleave(lambda x: Dataset.range(3).map(drawn), cycle_length=3,
                                              num_parallel_calls=3)
    assert values(numbers) == [959, 414, 880, 288, 984, 148, 792, 300, 14, 599, 72, 651]
    mixed = Dataset.range(6).interleave(lambda x: Dataset.range(x + 1), cycle_length=3, num_parallel_calls=3,
                                        deterministic=False)
    assert values(mixed) == [0, 0, 0, 1, 1, 0, 2, 1, 0, 2, 1, 0, 3, 2, 1, 3, 2, 4, 3, 4, 5]


def test_there_is_no_service():
    service = importlib.import_module("penstock.v2").data.experimental.service
    assert service.DispatcherConfig(port=5).port == 5
    assert service.WorkerConfig(dispatcher_address="a:1").worker_address == "localhost:%port%"
    assert service.ShardingPolicy.FILE_OR_DATA == 4
    with pytest.raises(ValueError, match="non-empty trainer ID"):
        service.CrossTrainerCache("")
    for use in (service.DispatchServer, lambda: service.WorkerServer(service.WorkerConfig("a:1")),
                lambda: service.distribute(service.ShardingPolicy.OFF, "grpc://a:1"),
                lambda: service.register_dataset("grpc://a:1", Dataset.range(1)),
                lambda: service.from_dataset_id("parallel_epochs", "grpc://a:1", "1")):
        with pytest.raises(tf.errors.UnimplementedError, match="no tf.data service"):
            use()


def test_tables_filled_by_datasets():
    pairs = Dataset.zip((Dataset.range(5), Dataset.range(5).map(lambda x: tf.strings.as_string(x * 2))))
    table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), default_value="none")
    assert table.lookup(tf.constant([0, 4, 9], tf.int64)).numpy().tolist() == [b"0", b"8", b"none"]
    index = tf.data.experimental.index_table_from_dataset(Dataset.from_tensor_slices(["a", "b"]))
    assert index.lookup(tf.constant(["b", "a", "c"])).numpy().tolist() == [1, 0, -1]
    assert int(index.size()) == 2
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.index_table_from_dataset(Dataset.from_tensor_slices(["a"]).take(0))


# Functions


def test_variables_that_a_dataset_changes_are_read_behind_it():
    count = tf.Variable(0)

    def counted(x):
        count.assign_add(1)
        return x

    @tf.function
    def loop():
        for _ in Dataset.range(10).map(counted):
            pass
        return count.read_value()

    @tf.function
    def steps():
        iterator = iter(Dataset.range(5).map(counted))
        next(iterator)
        first = count.read_value()
        next(iterator)
        return first, count.read_value()

    assert int(loop()) == 10
    assert [int(n) for n in steps()] == [11, 12]


def test_a_loop_over_a_dataset_needs_autograph():
    def loop(dataset):
        last = None
        for x in dataset:
            last = x
        return last

    with pytest.raises(ValueError, match="only supported when AutoGraph is enabled"):
        tf.function(loop, autograph=False)(Dataset.range(10))


# Files, states


def test_files_by_paths(tmp_path):
    path = pathlib.Path(tmp_path) / "lines"
    path.write_text("a\nb\n")
    for files in (path, [path]):
        assert [line.numpy() for line in readers.TextLineDatasetV2(files)] == [b"a", b"b"]


def test_a_cache_whose_directory_is_gone(tmp_path):
    (tmp_path / "cache").mkdir()
    iterator = iter(Dataset.range(4).cache(str(tmp_path / "cache" / "c")))
    assert int(next(iterator)) == 0
    shutil.rmtree(tmp_path / "cache")
    del iterator


def test_a_cache_is_complete_with_the_last_element():
    dataset = Dataset.range(10).shuffle(10).cache()
    iterator = iter(dataset)
    first = [int(next(iterator)) for _ in range(10)]
    assert values(dataset) == first


def test_zipped_caches_are_complete_together(tmp_path):
    made = Dataset.zip(tuple(Dataset.range(20).shuffle(20).cache(str(tmp_path / name)) for name in "abc"))
    assert values(made) == values(made)


def test_ignored_errors_are_logged(capfd):
    made = Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "bad"))
    assert len(values(made.ignore_errors(log_warning=True))) == 2
    assert "Error raised with error message" in capfd.readouterr().err


def test_checkpoints_hold_iterators_over_arrays(tmp_path):
    iterator = Dataset.range(5).as_numpy_iterator()
    next(iterator)
    state = iterator.save()
    path = tf.train.Checkpoint(it=iterator).write(str(tmp_path / "c"))
    assert [next(iterator), next(iterator)] == [1, 2]
    iterator.restore(state)
    assert next(iterator) == 1
    other = Dataset.range(5).as_numpy_iterator()
    tf.train.Checkpoint(it=other).restore(path)
    assert list(other) == [1, 2, 3, 4]


def test_the_state_of_another_dataset_is_refused():
    state = iter(Dataset.range(5))._iterator_resource
    saved = tf.raw_ops.SerializeIterator(resource_handle=state)
    other = iter(Dataset.from_tensor_slices([1, 2, 3]))
    with pytest.raises(tf.errors.NotFoundError, match="Make sure the dataset definition has not changed"):
        tf.raw_ops.DeserializeIterator(resource_handle=other._iterator_resource, serialized=saved)


def test_a_checkpoint_while_a_snapshot_is_read(tmp_path):
    def make():
        return Dataset.range(9).snapshot(str(tmp_path / "snapshot"))

    list(make())
    iterator = iter(make())
    first = [int(next(iterator)) for _ in range(4)]
    path = tf.train.Checkpoint(it=iterator).write(str(tmp_path / "c"))
    other = iter(make())
    tf.train.Checkpoint(it=other).restore(path)
    assert sorted(first + values(other)) == list(range(9))


def test_each_iteration_shuffles_and_repeats_in_another_order(monkeypatch):
    monkeypatch.setattr(mode.mode, "tensor_shape_v2", True)
    tf.random.set_seed(3)
    dataset = Dataset.range(8).apply(tf.data.experimental.shuffle_and_repeat(4, 2, seed=2))
    assert values(dataset) == [0, 1, 5, 3, 2, 4, 7, 6, 3, 4, 5, 0, 7, 6, 2, 1]
    assert values(dataset) == [1, 4, 5, 3, 7, 2, 0, 6, 0, 4, 1, 2, 5, 6, 3, 7]
    assert values(dataset) == [0, 2, 5, 3, 7, 1, 6, 4, 1, 4, 5, 2, 3, 6, 7, 0]


@pytest.mark.parametrize("elements, message", [((1, 2), "must be a list"), (5, "must be a list"),
                                               ([], "should not be empty"), (None, "should not be empty")])
def test_a_dataset_of_a_list_takes_lists(elements, message):
    with pytest.raises(ValueError, match=message):
        tf.data.experimental.from_list(elements)


def test_generators_yield_optionals_and_datasets():
    optional = tf.experimental.Optional

    def generate():
        for i in range(3):
            yield {"x": float(i), "o": optional.empty(tf.TensorSpec([], tf.int32)) if i == 1 else
                   optional.from_value(tf.constant(i))}

    signature = {"x": tf.TensorSpec([]), "o": tf.OptionalSpec(tf.TensorSpec([], tf.int32))}
    made = list(Dataset.from_generator(generate, output_signature=signature).repeat(2))
    assert [element["x"].numpy() for element in made] == [0, 1, 2] * 2
    assert [bool(element["o"].has_value()) for element in made] == [True, False, True] * 2
    assert made[2]["o"].get_value().numpy() == 2

    nested = Dataset.from_generator(lambda: ((i, Dataset.range(i)) for i in range(4)), output_signature=(
        tf.TensorSpec([], tf.int32), tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))))
    assert values(nested.flat_map(lambda _, inner: inner)) == [0, 0, 1, 0, 1, 2]


def test_legacy_functions_read_what_lies_outside():
    v = tf.Variable(2.0)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1, 2], tf.int64), [5.0, 6.0, 7.0]), -1.0)
    with_one = dataset_ops.DatasetV1.range(4).map_with_legacy_function(lambda i: v * tf.cast(i, tf.float32))
    with_both = dataset_ops.DatasetV1.range(4).map_with_legacy_function(lambda i: table.lookup(i) * v)
    some = dataset_ops.DatasetV1.range(4).filter_with_legacy_function(lambda i: v > tf.cast(i, tf.float32))

    @tf.function
    def sum_of_products():
        products = dataset_ops.DatasetV1.range(4).map_with_legacy_function(lambda i: v * tf.cast(i, tf.float32))
        return products.reduce(0.0, lambda a, b: a + b)

    assert values(with_one) == [0, 2, 4, 6] and values(with_both) == [10, 12, 14, -2] and values(some) == [0, 1]
    assert sum_of_products().numpy() == 12
    v.assign(3.0)
    assert values(with_both) == [15, 18, 21, -3] and values(some) == [0, 1, 2]
