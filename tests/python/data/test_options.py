"""Options of version 2 as values, messages and tensors; names of transformations. As TensorFlow 2.21 has them."""
import collections

import pytest

import penstock as tf
from penstock._src.data.ops import dataset_ops, options as options_lib
from penstock._src.tf_function import def_function
from penstock._src.base.mode import mode
from penstock.proto import dataset_metadata_pb2, dataset_options_pb2, graph_pb2

Dataset = dataset_ops.DatasetV2
Options = options_lib.Options
Metadata = dataset_metadata_pb2.Metadata

pytestmark = pytest.mark.usefixtures("version_two")


def all_set():
    options = Options()
    options.dataset_name = "name"
    options.framework_type = ["TFDS", "seqio"]
    options.deterministic = False
    options.experimental_slack = True
    options.experimental_warm_start = False
    options.experimental_symbolic_checkpoint = True
    options.experimental_external_state_policy = options_lib.ExternalStatePolicy.FAIL
    options.experimental_distribute.auto_shard_policy = options_lib.AutoShardPolicy.OFF
    options.experimental_distribute.num_devices = 1000
    options.experimental_service.pinned = True
    options.threading.max_intra_op_parallelism = 30
    options.threading.private_threadpool_size = 40
    options.autotune.enabled = True
    options.autotune.cpu_budget = 10
    options.autotune.ram_budget = 20
    options.autotune.autotune_algorithm = options_lib.AutotuneAlgorithm.STAGE_BASED
    options.autotune.initial_parallelism = 3
    options.autotune.min_parallelism = 2
    for field in dataset_options_pb2.OptimizationOptions.DESCRIPTOR.fields:
        setattr(options.experimental_optimization, field.name, field.number % 2 == 0)
    return options


def test_options_become_messages_and_come_back():
    options = all_set()
    message = options._to_proto()
    assert message.deterministic is False and message.autotune_options.ram_budget == 20
    assert message.distribute_options.auto_shard_policy == -1 and message.external_state_policy == 2
    found = Options()
    found._from_proto(dataset_options_pb2.Options.FromString(message.SerializeToString()))
    assert found == options and found._to_proto() == message
    assert found.framework_type == ["TFDS", "seqio"]
    assert found.autotune.autotune_algorithm is options_lib.AutotuneAlgorithm.STAGE_BASED


def test_what_is_not_set_is_not_in_the_message():
    message = Options()._to_proto()
    assert sorted(field.name for field, _ in message.ListFields()) == [
        "autotune_options", "distribute_options", "optimization_options", "service_options", "threading_options"]
    assert all(not part.ListFields() for _, part in message.ListFields())
    found = Options()
    found._from_proto(dataset_options_pb2.Options())
    assert found == Options()


def test_datasets_that_functions_return_keep_their_options():
    options = Options()
    options.deterministic = False
    options.framework_type = ["a"]

    @def_function.function
    def f(dataset):
        inside = Options()
        inside.experimental_slack = True
        inside.framework_type = ["b"]
        return dataset.with_options(inside, name="inside").map(lambda x: 10 * x)

    found = f(Dataset.range(3).with_options(options))
    assert found.options().deterministic is False and found.options().experimental_slack is True
    assert found.options().framework_type == ["a", "b"]
    assert [int(x) for x in found] == [0, 10, 20]
    with pytest.raises(ValueError, match="has no effect"):
        found.options().deterministic = True


def metadata(dataset):
    graph = graph_pb2.GraphDef.FromString(dataset._as_serialized_graph().numpy())
    return {node.op.rstrip("V0123456789"): Metadata.FromString(node.attr["metadata"].s).name.decode()
            for node in graph.node if "metadata" in node.attr}


def test_names_are_in_the_metadata():
    dataset = Dataset.range(3, name="a").map(lambda x: x, name="b").repeat(2, name="c").batch(2, name="d")
    dataset = dataset.shuffle(3, name="e").take(2, name="f").skip(0, name="g").cache(name="h")
    dataset = dataset.prefetch(2, name="i").shard(1, 0, name="j").padded_batch(2, name="k")
    dataset = dataset.filter(lambda x: True, name="l")
    dataset = dataset.interleave(Dataset.from_tensors, name="m").flat_map(Dataset.from_tensors, name="n")
    dataset = dataset.scan(0, lambda s, x: (s, x), name="o").window(2, name="p").enumerate(name="q")
    found = metadata(dataset)
    ops = ("Map Repeat Batch Shuffle Take Skip Cache Prefetch Shard PaddedBatch Filter Interleave FlatMap Scan Window "
           "Zip").split()
    assert [found[op + "Dataset"] for op in ops] == list("bcdefghijklmnopq")
    more = Dataset.from_tensor_slices([[1, 2]], name="a").unbatch(name="b").concatenate(
        Dataset.from_tensors(1), name="c").map(lambda x: x, num_parallel_calls=2, name="d").batch(
            2, num_parallel_calls=2, name="e").take_while(lambda x: True, name="f").unique(name="g")
    assert len(list(more.rebatch(1, name="x").ignore_errors(name="x"))) == 3
    found = metadata(more)
    assert [found[op] for op in ("UnbatchDataset", "ConcatenateDataset", "ParallelMapDataset",
                                 "ParallelBatchDataset", "TakeWhileDataset", "UniqueDataset")
            ] == list("bcdefg")


def test_errors_of_functions_tell_the_name():
    def fails(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, tf.constant(1, tf.int64))]):
            return x + 1

    for calls in (None, 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="function passed to hello transformation with"):
            list(Dataset.range(3).map(fails, num_parallel_calls=calls, name="hello"))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"passed to (Parallel)?MapDataset(V2)?:\d+ transf"):
            list(Dataset.range(3).map(fails, num_parallel_calls=calls))


@pytest.mark.parametrize("name", ["a b", "1a", "a-b"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="needs to be a valid identifier"):
        Dataset.range(3, name=name)


def test_what_apply_made_keeps_its_functions():
    other = Dataset.from_tensors(7)
    dataset = Dataset.range(2).apply(lambda d: d.map(lambda x: tf.cast(x, tf.int32) + 1).concatenate(other))
    assert [int(x) for x in dataset] == [1, 2, 7]


def test_specs_of_datasets_of_datasets():
    Pair = collections.namedtuple("Pair", "a b")
    inner = Dataset.from_tensors(Pair(3, "x"))
    outer = Dataset.from_tensor_slices([inner, inner])
    assert type(outer.element_spec.element_spec) is Pair
    assert [[int(p.a) for p in d] for d in outer] == [[3], [3]]

    @def_function.function(input_signature=[dataset_ops.DatasetSpec(tf.TensorSpec([], tf.int64))])
    def total(dataset):
        return dataset.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)

    assert int(total(Dataset.range(5))) == 10


def test_cardinality_of_datasets_that_are_drawn_from():
    finite, infinite = Dataset.range(3), Dataset.range(3).repeat()
    assert int(Dataset.sample_from_datasets([finite, infinite]).cardinality()) == dataset_ops.INFINITE
    stops = Dataset.sample_from_datasets([finite, infinite], stop_on_empty_dataset=True)
    assert int(stops.cardinality()) == dataset_ops.UNKNOWN
    assert int(Dataset.sample_from_datasets([finite, finite]).cardinality()) == dataset_ops.UNKNOWN


def test_iterators_say_what_they_need():
    from penstock._src.data.ops import iterator_ops
    with pytest.raises(ValueError, match="When `dataset` is not provided, both `components` and `element_spec` must"):
        iterator_ops.OwnedIterator()
    dataset = Dataset.range(3)
    with pytest.raises(ValueError, match="When `dataset` is provided, `element_spec` and `components` must not"):
        iterator_ops.OwnedIterator(dataset, element_spec=dataset.element_spec)


def message(call, kind):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value).split("\n")[0]


def test_messages_of_version_two():
    numbers, words = Dataset.range(3), Dataset.from_tensors("a")
    assert message(lambda: numbers.filter(lambda x: x), ValueError) == (
        "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
        "TensorSpec(shape=(), dtype=tf.int64, name=None).")
    assert message(lambda: Dataset.zip([numbers]), TypeError).endswith("you should use `tuple` instead.")
    assert message(lambda: Dataset.zip((1, numbers)), TypeError).endswith("encountered object of type <class 'int'>.")
    assert message(lambda: numbers.concatenate(words), TypeError) == "Incompatible dataset elements:"
    assert message(lambda: Dataset.from_generator([1], tf.int32), TypeError).endswith("must be a Python callable.")
    assert message(lambda: Dataset.from_generator(lambda: [1]), TypeError).startswith("To specify the output signature")
    assert message(Dataset.range, ValueError).endswith("should be between 1 and 3 but was 0.")
    assert message(lambda: numbers.scan(0, lambda s, x: (x, x)), TypeError) == (
        "Invalid `scan_func`. The element types for the new state must match the initial state. Expected "
        "<dtype: 'int32'>, got <dtype: 'int64'>.")
    assert message(lambda: numbers.reduce(0, lambda s, x: x), TypeError).endswith(
        "Expected <dtype: 'int32'> but got <dtype: 'int64'>.")
    assert message(numbers.unbatch, ValueError) == "Cannot unbatch an input with scalar components."
    assert message(lambda: numbers.apply(lambda d: 3), TypeError).endswith("object. Got <class 'int'>.")


def test_what_is_concatenated_has_the_supertype_of_both():
    made = Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]])).concatenate(
        Dataset.from_tensors(tf.ragged.constant([[4]])))
    assert made.element_spec.shape.as_list() == [None, None]
    assert [x.to_list() for x in made] == [[[1], [2, 3]], [[4]]]
    made = Dataset.from_tensors([1, 2]).concatenate(Dataset.from_tensors([[3]]))
    assert made.element_spec == tf.TensorSpec(None, tf.int32)
    assert [x.shape.as_list() for x in made] == [[2], [1, 1]]


def test_the_readers_of_records_repeat_their_shuffles_anew(tmp_path, monkeypatch):
    from penstock._src.data.experimental.ops import readers
    monkeypatch.setattr(mode, "tensor_shape_v2", True)
    path = str(tmp_path / "numbers.csv")
    with open(path, "w") as f:
        f.write("a\n" + "".join(f"{i}\n" for i in range(20)))
    dataset = readers.make_csv_dataset_v2(path, 5, column_defaults=[0], num_epochs=2, shuffle_seed=3,
                                       shuffle_buffer_size=20)
    first, second = ([int(x) for batch in dataset for x in batch["a"]] for _ in range(2))
    assert len(first) == 40 and sorted(first[:20]) == sorted(second[20:]) == list(range(20))
    assert first != second and first[:20] != first[20:]
    same = Dataset.range(20).shuffle(20, seed=3).repeat(2)
    assert [[int(x) for x in same] for _ in range(2)] == [first, second]


def test_datasets_are_no_tensors():
    dataset = Dataset.range(3)
    for value in (dataset, iter(dataset), tf.TensorSpec([])):
        assert not tf.is_tensor(value)
    for value in (tf.constant(1), tf.ragged.constant([[1]]), tf.sparse.from_dense([[1]]), tf.Variable(1),
                  tf.IndexedSlices(tf.constant([1]), tf.constant([0]))):
        assert tf.is_tensor(value)


def test_functions_of_sparse_elements_know_their_shapes():
    rows = Dataset.from_tensor_slices(tf.sparse.from_dense([[1.0, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0]]))
    for dataset, shape in ((rows, [4]), (rows.batch(2), [None, 4]), (rows.batch(3, drop_remainder=True), [3, 4])):
        assert dataset.map(tf.sparse.to_dense).element_spec.shape.as_list() == shape
    assert [x.numpy().tolist() for x in rows.batch(2).map(tf.sparse.to_dense)] == [
        [[1, 0, 0, 2], [0, 3, 0, 0]], [[0, 0, 0, 0]]]


def test_fingerprints_know_neither_seeds_of_shuffles_nor_options():
    def made(size=10, seed=None):
        return Dataset.range(9).shuffle(size, seed=seed).fingerprint().numpy()

    assert made() == made() == made(seed=5) != made(11)
    options = Options()
    options.deterministic = False
    assert Dataset.range(3).with_options(options).fingerprint().numpy() == Dataset.range(3).fingerprint().numpy()


def test_a_file_without_records_is_told_from_a_damaged_one(tmp_path):
    from penstock._src.data.ops import readers
    path = str(tmp_path / "no_records")
    with open(path, "w") as f:
        f.write("x" * 100)
    with pytest.raises(tf.errors.DataLossError, match=r"corrupted record at 0 \(Is this even a TFRecord file\?\)"):
        list(readers.TFRecordDatasetV2(path))


def test_what_follows_is_named_with_or_without_the_version_of_its_op():
    from penstock._src.data.experimental.ops import optimization
    for name in ("ParallelMap", "ParallelMapV2"):
        dataset = Dataset.range(3).apply(optimization.assert_next([name])).map(lambda x: x, num_parallel_calls=2)
        assert len(list(dataset)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Asserted Map transformation at offset 0"):
        list(Dataset.range(3).apply(optimization.assert_next(["Map"])).map(lambda x: x, num_parallel_calls=2))


def test_nothing_is_made_parallel_where_autotuning_is_off():
    from penstock._src.data.experimental.ops import optimization

    def begun(enabled, following):
        options = Options()
        options.autotune.enabled = enabled
        options.experimental_optimization.map_parallelization = True
        dataset = Dataset.range(3).apply(optimization.assert_next([following])).map(lambda x: 2 * x)
        return [int(x) for x in dataset.with_options(options)]

    assert begun(True, "ParallelMap") == begun(False, "Map") == [0, 2, 4]
