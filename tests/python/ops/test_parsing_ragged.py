"""Ragged features of Examples: rows told by other features in each of the six ways."""
import pytest

import penstock as tf
from penstock.eager import context

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
