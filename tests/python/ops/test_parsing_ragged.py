"""Ragged features of Examples: rows told by other features in each of the six ways."""
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2

Ragged = tf.io.RaggedFeature


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def example(**lists):
    def feature(values):
        if values and isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    features = {key: feature(values) for key, values in lists.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


# The same rows, of 2, 0, 3 and of 1, 1 values.
ROWS = [example(v=[3, 1, 4, 1, 5], lengths=[2, 0, 3], splits=[0, 2, 2, 5], starts=[0, 2, 2], limits=[2, 2, 5],
                ids=[0, 0, 2, 2, 2]),
        example(v=[9, 2], lengths=[1, 1], splits=[0, 1, 2], starts=[0, 1], limits=[1, 2], ids=[0, 1])]
WANTED = [[[3, 1], [], [4, 1, 5]], [[9], [2]]]
PARTITIONS = [Ragged.RowLengths("lengths"), Ragged.RowSplits("splits"), Ragged.RowStarts("starts"),
              Ragged.RowLimits("limits"), Ragged.ValueRowIds("ids")]


def features(partition, **options):
    return {"rows": Ragged(tf.int64, value_key="v", partitions=[partition], **options), "v": Ragged(tf.int64)}


@pytest.mark.parametrize("partition", PARTITIONS)
def test_rows_of_a_batch(partition):
    parsed = tf.io.parse_example(ROWS, features(partition))
    assert parsed["rows"].to_list() == WANTED and parsed["rows"].row_splits.dtype == tf.int32
    assert parsed["v"].to_list() == [[3, 1, 4, 1, 5], [9, 2]]
    assert set(parsed) == {"rows", "v"}


@pytest.mark.parametrize("partition", PARTITIONS)
def test_rows_of_one_example(partition):
    parsed = tf.io.parse_single_example(ROWS[0], features(partition))
    assert parsed["rows"].to_list() == WANTED[0]
    assert parsed["v"].numpy().tolist() == [3, 1, 4, 1, 5]


def test_rows_of_one_length_and_nested_ones():
    examples = [example(v=[1.0, 2.0, 3.0, 4.0], n=[2]), example(v=[5.0, 6.0], n=[1]), example()]
    wanted = {"pairs": Ragged(tf.float32, "v", [Ragged.UniformRowLength(2)], tf.int64),
              "nested": Ragged(tf.float32, "v", [Ragged.RowLengths("n"), Ragged.UniformRowLength(2)], tf.int64)}
    parsed = tf.io.parse_example(examples, wanted)
    assert parsed["pairs"].to_list() == [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], []]
    assert parsed["nested"].to_list() == [[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0]]], []]
    assert parsed["pairs"].row_splits.dtype == tf.int64


def test_in_datasets():
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).batch(2)
    wanted = dict(features(PARTITIONS[0], row_splits_dtype=tf.int64), v=Ragged(tf.int64, row_splits_dtype=tf.int64))
    parsed, = dataset.apply(tf.data.experimental.parse_example_dataset(wanted))
    assert parsed["rows"].to_list() == WANTED


def test_bad_features():
    for arguments in (dict(partitions=3), dict(partitions=["x"]), dict(validate=1)):
        with pytest.raises(TypeError):
            Ragged(tf.int64, **arguments)
    for arguments in (dict(value_key=3), dict(row_splits_dtype=tf.float32)):
        with pytest.raises(ValueError):
            Ragged(tf.int64, **arguments)
    with pytest.raises(ValueError, match="Conflicting type"):
        tf.io.parse_example(ROWS, {"a": Ragged(tf.int64, "v"), "b": Ragged(tf.float32, "v")})
    with pytest.raises(ValueError, match="must not intersect"):
        tf.io.parse_example(ROWS, {"a": Ragged(tf.int64, "v"), "v": tf.io.FixedLenFeature([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_example([example(v=[1, 2], lengths=[3])], features(PARTITIONS[0], validate=True))


def sequence(context, **lists):
    def feature(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={key: feature(values) for key, values in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list={
            key: tf.train.FeatureList(feature=[feature(values) for values in rows]) for key, rows in lists.items()})
    ).SerializeToString()


# Rows of each step: [[1], [2, 3]], [[4]], [[5, 6]] and [[9, 10]].
SEQUENCES = [sequence({"c": [7, 8, 9], "n": [1, 2]}, v=[[1, 2, 3], [4], [5, 6]], lengths=[[1, 2], [1], [2]],
                      ids=[[0, 1, 1], [0], [0, 0]], splits=[[0, 1, 3], [0, 1], [0, 2]], starts=[[0, 1], [0], [0]],
                      limits=[[1, 3], [1], [2]]),
             sequence({}, v=[[9, 10]], lengths=[[2]], ids=[[0, 0]], splits=[[0, 2]], starts=[[0]], limits=[[2]])]
STEPS = [[[[1], [2, 3]], [[4]], [[5, 6]]], [[[9, 10]]]]


@pytest.mark.parametrize("partition", PARTITIONS)
def test_rows_of_feature_lists(partition):
    context_features = {"pairs": Ragged(tf.int64, "c", [Ragged.RowLengths("n")]), "c": Ragged(tf.int64)}
    lists = {"rows": Ragged(tf.int64, "v", [partition], validate=True), "v": Ragged(tf.int64)}
    of_context, of_lists, lengths = tf.io.parse_sequence_example(SEQUENCES, context_features, lists)
    assert of_lists["rows"].to_list() == STEPS and not lengths
    assert of_lists["v"].to_list() == [[[1, 2, 3], [4], [5, 6]], [[9, 10]]]
    assert of_context["pairs"].to_list() == [[[7], [8, 9]], []]
    for parse in (tf.io.parse_single_sequence_example, tf.io.parse_sequence_example):
        of_context, of_lists = parse(SEQUENCES[0], context_features, lists)[:2]
        assert of_lists["rows"].to_list() == STEPS[0] and of_context["pairs"].to_list() == [[7], [8, 9]]
    misfit = {"rows": Ragged(tf.int64, "v", [Ragged.RowLengths("none")], validate=True)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="values and partitions are not aligned"):
        tf.io.parse_sequence_example(SEQUENCES, None, misfit)


def test_a_single_sequence_is_parsed_as_a_batch_is(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    lists = {"v": tf.io.VarLenFeature(tf.int64),
             "none": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    context_features = {"n": tf.io.FixedLenFeature(2, tf.int64)}
    of_context, of_lists, lengths = tf.io.parse_sequence_example(SEQUENCES[0], context_features, lists)
    assert of_context["n"].numpy().tolist() == [1, 2] and lengths["none"].numpy() == 0
    assert tf.sparse.to_dense(of_lists["v"]).numpy().tolist() == [[1, 2, 3], [4, 0, 0], [5, 6, 0]]
    with pytest.raises(ValueError, match="must be a scalar"):
        tf.io.parse_single_sequence_example(SEQUENCES, None, lists)

    @tf.function(input_signature=[tf.TensorSpec(None, tf.string)])
    def parse(serialized):
        return tf.io.parse_single_sequence_example(serialized, None, lists)[1]["none"]

    assert parse(SEQUENCES[0]).shape == [0, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
        parse(SEQUENCES)
