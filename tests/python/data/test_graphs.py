"""Datasets written down as graphs, and made of graphs."""
import pytest

import penstock as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def graph_of(dataset, **policy):
    return tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor, **policy)


def made_again(dataset, **policy):
    variant = tf.raw_ops.DatasetFromGraph(graph_def=graph_of(dataset, **policy))
    return tf.data.experimental.from_variant(variant, dataset.element_spec)


@pytest.mark.parametrize("build", [
    lambda: Dataset.range(7).map(lambda x: x * 2).filter(lambda x: x > 3).batch(3),
    lambda: Dataset.zip((Dataset.range(3), Dataset.from_tensor_slices(["a", "b", "c"]))).repeat(2).prefetch(1),
    lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(x).map(lambda y: y + x)).concatenate(Dataset.range(2)),
    lambda: Dataset.range(9).shuffle(4, seed=3).cache(),
    lambda: Dataset.range(5).map(lambda x: x + tf.constant(3, tf.int64), num_parallel_calls=2).take(4),
])
def test_a_dataset_made_of_its_graph_is_the_same(build):
    dataset = build()
    expected, made = list(dataset.as_numpy_iterator()), list(made_again(dataset).as_numpy_iterator())
    assert repr(made) == repr(expected)


def test_a_dataset_can_be_wrapped():
    dataset = Dataset.range(4)
    wrapped = tf.raw_ops.WrapDatasetVariant(input_handle=dataset._variant_tensor)
    variant = tf.raw_ops.UnwrapDatasetVariant(input_handle=wrapped)
    again = tf.data.experimental.from_variant(variant, dataset.element_spec)
    assert list(again.as_numpy_iterator()) == [0, 1, 2, 3]


def test_the_graph_is_one_that_tensorflow_knows():
    graph = tf.compat.v1.GraphDef.FromString(graph_of(Dataset.range(7).map(lambda x: x + 1).batch(2)).numpy())
    assert [node.op for node in graph.node if node.op != "Const"] == [
        "RangeDataset", "MapDataset", "BatchDatasetV2", "_Retval"]
    assert graph.node[-1].input[0] == graph.node[-2].name
    assert [f.signature.name for f in graph.library.function] == [
        next(n for n in graph.node if n.op == "MapDataset").attr["f"].func.name]


@pytest.fixture
def var():
    return tf.Variable(10, dtype=tf.int64)


@pytest.fixture
def table():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    table.insert(tf.constant([1], tf.int64), tf.constant([7], tf.int64))
    return table


def test_variables_are_written_with_their_values(var):
    """TensorFlow 2.21's values."""
    dataset = Dataset.range(3).map(lambda x: var.assign_add(x))
    again = made_again(dataset, external_state_policy=3)
    var.assign(20)
    assert list(again.as_numpy_iterator()) == [10, 11, 13] and int(var) == 20
    assert list(dataset.as_numpy_iterator()) == [20, 21, 23] and int(var) == 23
    for policy, refused in (0, False), (1, False), (2, True):
        if not refused:
            assert graph_of(dataset, external_state_policy=policy).numpy()
            continue
        with pytest.raises(tf.errors.FailedPreconditionError, match=(
                "Failed to serialize the input pipeline graph: AssignAddVariableOp is stateful")):
            graph_of(dataset, external_state_policy=policy)


@pytest.mark.parametrize("policy", range(4))
def test_tables_are_written_with_their_contents(table, policy):
    """TensorFlow 2.21's values."""
    fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], ["a", "b"]), "?")
    vectors = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0., 0.])
    vectors.insert(["x"], [[1., 2.]])
    datasets = [Dataset.range(3).map(table.lookup),
                Dataset.range(3).map(lambda x: fixed.lookup(tf.cast(x, tf.int32))),
                Dataset.from_tensors(["x", "y"]).map(vectors.lookup)]
    again = [made_again(dataset, external_state_policy=policy) for dataset in datasets]
    table.insert(tf.constant([2], tf.int64), tf.constant([9], tf.int64))
    assert [list(dataset.as_numpy_iterator()) for dataset in again[:2]] == [[-1, 7, -1], [b"a", b"b", b"?"]]
    assert [x.tolist() for x in again[2].as_numpy_iterator()] == [[[1., 2.], [0., 0.]]]
    assert list(datasets[0].as_numpy_iterator()) == [-1, 7, 9]
    ops = [node.op for node in tf.compat.v1.GraphDef.FromString(graph_of(datasets[0]).numpy()).node]
    assert sorted(ops) == ["Const"] * 6 + ["Identity", "LookupTableImportV2", "MapDataset", "MutableHashTableV2",
                                           "RangeDataset", "_Retval"]


def test_what_cannot_be_written():
    stateful = Dataset.range(3).map(lambda x: tf.random.uniform([]))
    assert graph_of(stateful).numpy()
    with pytest.raises(tf.errors.FailedPreconditionError, match="stateful"):
        graph_of(stateful, external_state_policy=2)
    nested = Dataset.range(3).flat_map(lambda x: Dataset.range(x).map(lambda y: tf.random.uniform([])))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Failed to serialize the input pipeline graph: "):
        graph_of(nested, external_state_policy=2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.DatasetFromGraph(graph_def=b"")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.DatasetFromGraph(graph_def=b"\xff")
