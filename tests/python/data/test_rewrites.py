"""Pipelines that are rewritten give the same elements: fused, without what does nothing, divided among workers."""
import threading
import time

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.data.experimental.ops import optimization
from penstock._src.data.experimental.ops.distribute import _AutoShardDataset
from penstock._src.data.ops.options import AutoShardPolicy
from penstock._src.graph import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def elements(dataset):
    return [np.asarray(part).tolist() for element in dataset.as_numpy_iterator()
            for part in (element if isinstance(element, tuple) else (element,))]


def captured():
    return tf.constant(5, tf.int64)



CASES = {
    "map_and_batch_fusion": (["MapAndBatch"], lambda d: d.map(lambda x: x + captured()).batch(4)),
    "map_fusion": (["Map"], lambda d: d.map(lambda x: (x + captured(), x)).map(lambda x, y: (y, x * captured()))),
    "filter_fusion": (["Filter"], lambda d: d.filter(lambda x: x % 2 < 1).filter(lambda x: x < captured())),
    "map_and_filter_fusion": (["Map", "Filter", "Map"], lambda d: d.map(lambda x: x + 5).filter(lambda x: x % 3 < 1)),
    "map_parallelization": (["ParallelMap"], lambda d: d.map(lambda x: x * x)),
    "shuffle_and_repeat_fusion": (["ShuffleAndRepeat"], lambda d: d.shuffle(4, seed=7).repeat(3)),
    "noop_elimination": (["Map"], lambda d: d.repeat(1).skip(0).take(-1).shard(1, 0).map(lambda x: -x).prefetch(0)),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_rewritten_datasets_give_the_same_elements(name):
    names, build = CASES[name]
    checked = build(Dataset.range(11).apply(optimization.assert_next(names)))
    assert elements(optimization.optimize([name])(checked)) == elements(build(Dataset.range(11)))


def test_predicates_are_asked_in_parallel():
    asked, four_at_once = [], threading.Event()

    def answer(value):
        asked.append(value)
        if len(asked) == 4:  # nobody answers before
            four_at_once.set()
        assert four_at_once.wait(100)
        return int(value) % 3 == 0

    def predicate(x):
        return tf.py_function(answer, [x], tf.bool)
    dataset = Dataset.range(40)
    filtered = dataset.filter(lambda x: tf.ensure_shape(predicate(x), []))  # holds the predicate
    variant = tf.raw_ops.ParallelFilterDataset(
        input_dataset=dataset._variant_tensor, other_arguments=[], num_parallel_calls=tf.constant(20, tf.int64),
        predicate=filtered._dataset._predicate.function,
        deterministic="true",
        output_types=[tf.int64], output_shapes=[[]])
    assert elements(tf.data.experimental.from_variant(variant, dataset.element_spec)) == list(range(0, 40, 3))


def test_any_number_of_maps_and_filters_is_joined():
    for name, names, add in (("map_fusion", ["Map", "FiniteTake"], lambda d: d.map(lambda x: x + captured())),
                             ("filter_fusion", ["Filter", "FiniteTake"], lambda d: d.filter(lambda x: x < captured()))):
        checked = add(add(add(Dataset.range(11).apply(optimization.assert_next(names))))).take(20)
        assert elements(optimization.optimize([name])(checked)) == elements(add(add(add(Dataset.range(11)))))


def test_the_second_of_two_filters_is_not_asked_in_vain():
    def fails(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, tf.constant(3, tf.int64))]):
            return tf.constant(True)
    dataset = Dataset.range(5).filter(lambda x: x < 3).filter(fails)
    assert elements(optimization.optimize(["filter_fusion"])(dataset)) == [0, 1, 2]


def test_functions_with_state_are_not_made_parallel():
    dataset = Dataset.range(3).apply(optimization.assert_next(["Map"]))
    dataset = dataset.map(lambda x: x + tf.random.uniform([], maxval=1, dtype=tf.int64))
    assert elements(optimization.optimize(["map_parallelization"])(dataset)) == [0, 1, 2]


def test_what_is_to_stay_on_one_thread_is_not_made_parallel():
    dataset = Dataset.range(3).apply(optimization.assert_next(["Map"])).map(lambda x: x + 1, synchronous=True)
    assert elements(optimization.optimize(["map_parallelization"])(dataset)) == [1, 2, 3]


def test_rewriting_follows_the_options():
    dataset = Dataset.range(5).apply(optimization.assert_next(["MapAndBatch"])).map(lambda x: x + 1).batch(5)
    assert elements(dataset) == [[1, 2, 3, 4, 5]]
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    message = "MapAndBatch transformation at offset 0 but encountered Map "
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(dataset.with_options(options))


def test_fewer_transformations_than_asserted():
    dataset = Dataset.range(5).apply(optimization.assert_next(["Map", "Batch"])).map(lambda x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="next 2 transformations but encountered only 1"):
        elements(dataset)


@pytest.fixture
def files(tmp_path):
    for name in "abcde":
        (tmp_path / name).write_text("\n".join(name + str(i) for i in range(2)))
    return str(tmp_path / "*")


def reads(pattern):
    return Dataset.list_files(pattern, shuffle=False).interleave(tf.data.TextLineDataset, cycle_length=2)


@pytest.mark.parametrize("policy", [AutoShardPolicy.AUTO, AutoShardPolicy.FILE])
def test_each_worker_has_files_of_its_own(files, policy):
    mine = [elements(_with_policy(reads(files).map(lambda x: x).batch(1), policy, 2, i)) for i in range(2)]
    assert mine == [[[b"a0"], [b"c0"], [b"a1"], [b"c1"], [b"e0"], [b"e1"]], [[b"b0"], [b"d0"], [b"b1"], [b"d1"]]]


def test_what_was_asserted_of_all_files_is_not_asked_of_a_part(files):
    dataset = reads(files).apply(tf.data.experimental.assert_cardinality(10)).batch(3)
    assert elements(_with_policy(dataset, AutoShardPolicy.FILE, 5, 1)) == [[b"b0", b"b1"]]


def test_a_reader_reads_its_share(files, tmp_path):
    names = sorted(str(p) for p in tmp_path.iterdir())
    dataset = _with_policy(tf.data.TextLineDataset(names).take(100), AutoShardPolicy.FILE, 4, 1)
    assert elements(dataset) == [b"b0", b"b1"]


def test_files_are_shuffled_behind_their_division(files):
    """Every worker shuffles for itself, so what is shuffled must not be what is divided."""
    dataset = Dataset.list_files(files, shuffle=True).flat_map(tf.data.TextLineDataset)
    mine = [sorted(elements(_with_policy(dataset, AutoShardPolicy.FILE, 2, i))) for i in range(2)]
    assert mine == [[b"a0", b"a1", b"c0", b"c1", b"e0", b"e1"], [b"b0", b"b1", b"d0", b"d1"]]


def test_what_is_not_known_to_keep_files_apart_is_divided_at_its_end(files, tmp_path):
    dataset = reads(files).apply(tf.data.experimental.unique())
    assert elements(_with_policy(dataset, AutoShardPolicy.AUTO, 5, 0)) == [b"a0", b"d0"]
    with pytest.raises(tf.errors.NotFoundError, match="not a dataset: UniqueDataset"):
        elements(_with_policy(dataset, AutoShardPolicy.FILE, 5, 0))
    names = sorted(str(p) for p in tmp_path.iterdir())
    with pytest.raises(tf.errors.NotFoundError, match="wrap the inputs to your reader dataset"):
        variant = tf.raw_ops.TextLineDataset(filenames=names, compression_type="", buffer_size=0)
        tf.raw_ops.AutoShardDataset(input_dataset=variant, num_workers=2, index=0, output_types=[tf.string],
                                    output_shapes=[[]], auto_shard_policy=int(AutoShardPolicy.FILE))


@pytest.mark.parametrize("n, workers, index, expected", [
    (5, 10, 0, None), (5, 10, 4, None), (5, 10, 5, []), (0, 10, 0, []), (4, 4, 0, [0]), (9, 5, 3, [3, 8]),
    (9, 5, 4, [4]), (4, 3, 0, [0, 3])])
def test_each_shard_has_an_element(n, workers, index, expected):
    """Both versions of TensorFlow tell only the workers that have one when others have none."""
    dataset = _with_policy(Dataset.range(n), AutoShardPolicy.DATA, workers, index)
    if expected is not None:
        assert elements(dataset) == expected
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"# elems = {n}, # shards = {workers}"):
        elements(dataset)


def test_without_files_each_worker_has_its_share_of_elements():
    assert elements(_with_policy(Dataset.range(10), AutoShardPolicy.AUTO, 3, 1)) == [1, 4, 7]
    assert elements(_with_policy(Dataset.range(10), AutoShardPolicy.DATA, 3, 2)) == [2, 5, 8]
    assert elements(_with_policy(Dataset.range(4), AutoShardPolicy.OFF, 3, 2)) == [0, 1, 2, 3]
    with pytest.raises(tf.errors.NotFoundError, match="unshardable source dataset"):
        elements(_with_policy(Dataset.range(10), AutoShardPolicy.FILE, 3, 1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(_with_policy(Dataset.range(10), AutoShardPolicy.AUTO, 3, 3))


def test_shards_that_were_hinted_are_numbered():
    hint = tf.data.experimental.SHARD_HINT
    dataset = Dataset.range(10).shard(hint, hint).map(lambda x: -x)
    assert elements(_with_policy(dataset, AutoShardPolicy.HINT, 5, 3)) == [-3, -8]
    numbered = Dataset.range(10).shard(hint, 0)
    assert elements(_with_policy(numbered, AutoShardPolicy.HINT, 5, 3)) == [3, 8]
    with pytest.raises(tf.errors.FailedPreconditionError, match="SHARD_HINT, ...\\)` can only be used in"):
        elements(numbered)


def _with_policy(dataset, policy, workers, index):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return _AutoShardDataset(dataset.with_options(options), workers, index)


def test_the_faster_of_two_equal_datasets():
    asked = []

    def sleep(v):
        asked.append(int(v))
        time.sleep(0.02)
        return v
    slow = Dataset.range(8).map(lambda x: tf.py_function(sleep, [x], tf.int64))
    dataset = optimization._ChooseFastestDataset([slow.map(lambda x: tf.ensure_shape(x, [])), Dataset.range(8)],
                                                 num_experiments=3)
    assert elements(dataset.repeat(3)) == 3 * list(range(8))
    assert asked == 3 * [0, 1, 2]  # only while both are tried
    with pytest.raises(tf.errors.InvalidArgumentError, match="compatible cardinalities"):
        optimization._ChooseFastestDataset([Dataset.range(3), Dataset.range(4)])


def dataset_of_a_function_that_calls_itself():
    """A graph's range(4).map(f), where f calls f: it can be looked at, if not run."""
    graph_def = tf.GraphDef()
    signature = graph_def.library.function.add()
    signature.signature.name = "calls_itself"
    signature.signature.input_arg.add(name="x", type=tf.int64.as_datatype_enum)
    signature.signature.output_arg.add(name="y", type=tf.int64.as_datatype_enum)
    signature.node_def.add(name="call", op="calls_itself", input=["x"])
    signature.ret["y"] = "call:y:0"
    tf.import_graph_def(graph_def, name="")
    return tf.raw_ops.MapDataset(
        input_dataset=Dataset.range(4)._variant_tensor, other_arguments=[], f="calls_itself",
        output_types=[tf.int64], output_shapes=[[]])


LOOKS = {
    "shards": lambda d, _: tf.raw_ops.AutoShardDataset(
        input_dataset=tf.raw_ops.FlatMapDataset(input_dataset=d, other_arguments=[], f="calls_itself",
                                                output_types=[tf.int64], output_shapes=[[]]),
        num_workers=2, index=0, output_types=[tf.int64], output_shapes=[[]]),
    "parallel": lambda d, _: tf.raw_ops.OptimizeDataset(
        input_dataset=d, optimizations=["map_parallelization"], output_types=[tf.int64], output_shapes=[[]]),
    "graph": lambda d, _: tf.raw_ops.DatasetToGraph(input_dataset=d),
    "snapshot": lambda d, path: tf.raw_ops.SnapshotDataset(
        input_dataset=d, path=path, output_types=[tf.int64], output_shapes=[[]]),
}


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_functions_that_call_themselves_are_looked_at_once(look, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        looked = LOOKS[look](dataset_of_a_function_that_calls_itself(), str(tmp_path))
        session.run(looked.op)
