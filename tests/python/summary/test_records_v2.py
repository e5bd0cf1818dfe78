"""What version 2's functions write, record by record as TensorFlow 2.21 with TensorBoard 2.21."""
import glob

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture
def written(tmp_path):
    """A function that runs another one with a writer, and gives the events behind the file's version."""

    def run(write):
        with context.eager_mode():
            writer = tf.summary.create_file_writer(str(tmp_path))
            with writer.as_default(step=5):
                write()
            writer.close()
        path, = glob.glob(str(tmp_path) + "/*")
        version, *events = tf.compat.v1.train.summary_iterator(path)
        assert version.file_version == "brain.Event:2"
        assert version.source_metadata.writer == "tensorflow.core.util.events_writer"
        return [(event.step, value) for event in events for value in event.summary.value]

    return run


def test_scalars(written):
    def write():
        tf.summary.scalar("loss", 0.5, description="the **loss**")
        with tf.name_scope("scope"):
            tf.summary.scalar("in", tf.constant(2), step=7)

    (step, loss), (next_step, inner) = written(write)
    assert (step, loss.tag, next_step, inner.tag) == (5, "loss", 7, "scope/in")
    assert loss.metadata.SerializeToString() == b'\n\t\n\x07scalars\x1a\x0cthe **loss**'
    assert inner.tensor.SerializeToString() == b"\x08\x01\x12\x00\x22\x04\x00\x00\x00\x40"


def test_steps_are_integers(written):
    def write():
        for step in (1.5, 1.0, "one"):
            for function in (tf.summary.write, tf.function(tf.summary.write)):
                with pytest.raises(TypeError, match="int64"):
                    function("tag", 1, step=step)
            with pytest.raises(TypeError, match="int64"):
                tf.summary.experimental.write_raw_pb(b"", step=step)

    assert written(write) == []


@pytest.mark.parametrize("values, buckets, rows", [
    ([1.0], 4, [[1, 1, 0]] * 3 + [[1, 1, 1]]),
    ([3, 3, 3], 2, [[3, 3, 0], [3, 3, 3]]),
    ([0.0, 1, 2, 4], 2, [[0, 2, 2], [2, 4, 2]]),
    ([], 2, [[0, 0, 0]] * 2),
    ([1.0, 2.0], 0, np.zeros([0, 3])),
])
def test_histograms(written, values, buckets, rows):
    (_, value), = written(lambda: tf.summary.histogram("h", values, buckets=buckets))
    assert value.metadata.SerializeToString() == b"\n\x0c\n\nhistograms"
    np.testing.assert_array_equal(tf.make_ndarray(value.tensor), rows)


def test_images_and_sounds_of_batches_of_any_size(written):
    @tf.function(input_signature=[tf.TensorSpec([None, 4, 5, 3]), tf.TensorSpec([None, 10, 1])])
    def write(images, sounds):
        tf.summary.image("image", images, max_outputs=1)
        tf.summary.audio("sound", sounds, 8000)

    def batches():
        write(tf.ones([2, 4, 5, 3]), tf.zeros([1, 10, 1]))
        write(tf.ones([0, 4, 5, 3]), tf.zeros([0, 10, 1]))
        tf.summary.image("none", tf.zeros([0, 4, 5, 1]))

    image, sound, no_image, no_sound, none = [value for _, value in written(batches)]
    assert image.metadata.SerializeToString() == b"\n\x08\n\x06images"
    assert sound.metadata.SerializeToString() == b"\n\x0b\n\x05audio\x12\x02\x10\x0b"
    assert list(image.tensor.string_val[:2]) == [b"5", b"4"] and len(image.tensor.string_val) == 3
    assert [len(text) for text in sound.tensor.string_val] == [64, 0]
    assert list(no_image.tensor.string_val) == list(none.tensor.string_val) == [b"5", b"4"]
    assert [dim.size for dim in no_sound.tensor.tensor_shape.dim] == [0, 2]


def test_texts(written):
    (_, value), = written(lambda: tf.summary.text("t", [["a", "b"]], description="d"))
    assert value.metadata.SerializeToString() == b"\n\x06\n\x04text\x1a\x01d"
    assert tf.make_ndarray(value.tensor).tolist() == [[b"a", b"b"]]


def test_tensors_with_and_without_metadata(written):
    def write():
        tf.summary.write("plain", tf.constant([1, 2]))
        tf.summary.write("described", tf.constant(1), metadata=tf.compat.v1.SummaryMetadata(summary_description="d"))

    (_, plain), (_, described) = written(write)
    assert not plain.HasField("metadata") and described.metadata.summary_description == "d"


def test_whether_summaries_are_recorded_is_a_tensor(tmp_path):
    with context.eager_mode():
        assert bool(tf.summary.should_record_summaries()) is False
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            assert bool(tf.summary.should_record_summaries()) is True
            with tf.summary.record_if(False):
                recorded = tf.summary.should_record_summaries()
        assert recorded.dtype == tf.bool and not recorded


def test_internal_names_follow_the_version(tmp_path, version_two):
    from penstock.alias import finder
    summary_ops_v2 = finder.internal_module("ops.summary_ops_v2")
    writer = tf.summary.create_file_writer(str(tmp_path))
    assert not summary_ops_v2.has_default_writer() and not summary_ops_v2.should_record_summaries()
    with writer.as_default():
        assert summary_ops_v2.has_default_writer() and summary_ops_v2.should_record_summaries()
        assert summary_ops_v2.graph(tf.Graph())
        with pytest.raises(ValueError, match="is not tf.Graph"):
            summary_ops_v2.graph("text")
    with pytest.raises(ValueError, match="Invalid argument to flush"):
        tf.summary.flush(())
