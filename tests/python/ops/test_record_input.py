"""RecordInput: records of files in random order, each once in a round."""
import collections

import pytest

import penstock.v1 as tf
from penstock._src.files import tf_record
from penstock._src.ops.queues import data_flow_ops


@pytest.fixture
def files(tmp_path):
    """A pattern of files and the records in them."""
    records = []
    for i in range(3):
        with tf_record.TFRecordWriter(str(tmp_path / f"f{i}")) as writer:
            for j in range(i + 2):
                records.append(b"%d-%d" % (i, j))
                writer.write(records[-1])
    return str(tmp_path / "f*"), records


def _rounds(pattern, count, steps, **arguments):
    with tf.Graph().as_default(), tf.Session() as session:
        records = data_flow_ops.RecordInput(pattern, batch_size=count, **arguments).get_yield_op()
        return [session.run(records).tolist() for _ in range(steps)]


@pytest.mark.parametrize("buffer_size, parallelism", [(1, 1), (4, 2), (100, 16)])
def test_a_round_has_each_record_once(files, buffer_size, parallelism):
    pattern, records = files
    rounds = _rounds(pattern, len(records), 3, buffer_size=buffer_size, parallelism=parallelism, seed=7)
    assert all(collections.Counter(each) == collections.Counter(records) for each in rounds)
    assert rounds == _rounds(pattern, len(records), 3, buffer_size=buffer_size, parallelism=parallelism, seed=7)
    assert buffer_size == 1 or rounds[0] != rounds[1]


def test_a_step_goes_on_into_the_next_round(files):
    pattern, records = files
    drawn = sum(_rounds(pattern, 4, 2 * len(records) // 2), [])
    assert set(collections.Counter(drawn[:2 * len(records)]).values()) == {2}


def test_several_batches_have_the_nodes_of_tensorflow(files):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        batches = data_flow_ops.RecordInput(files[0], batch_size=2, batches=3, name="rec").get_yield_op()
        assert [[t.name for t in batch] for batch in batches] == [
            [f"rec_1/Reshape{a}:0", f"rec_1/Reshape{b}:0"] for a, b in [("", "_3"), ("_1", "_4"), ("_2", "_5")]]
        assert graph.get_operations()[0].outputs[0].shape.ndims is None
        assert len({record for batch in session.run(batches) for record in batch}) == 6


def test_compressed_files(tmp_path):
    path, options = str(tmp_path / "z"), tf_record.TFRecordOptions(tf_record.TFRecordCompressionType.GZIP)
    with tf_record.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
    assert _rounds(path, 2, 1, compression_type=tf_record.TFRecordCompressionType.GZIP) == [[b"one", b"one"]]


def test_no_files_and_no_records(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Found no files at .*nothing"):
        _rounds(str(tmp_path / "nothing*"), 1, 1)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(tf.errors.OutOfRangeError, match="hold no record"):
        _rounds(str(tmp_path / "empty"), 1, 1)
    (tmp_path / "broken").write_bytes(b"x" * 20)
    with pytest.raises(tf.errors.DataLossError):
        _rounds(str(tmp_path / "broken"), 1, 1)
