"""Event files: what is written is read; nothing is lost when the program ends."""
import glob
import os
import signal
import subprocess
import sys

import pytest

import penstock.v1 as tf
from penstock import _core


def events(directory):
    paths = sorted(glob.glob(str(directory) + "/events*"))
    return [event for path in paths for event in tf.train.summary_iterator(path)]


def scalar(tag, value):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def test_file_writer(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
    with tf.summary.FileWriter(str(tmp_path), graph) as writer:
        writer.add_summary(scalar("a", 1), 3)
        writer.add_summary(scalar("a", 2).SerializeToString(), 4)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 5)
        writer.add_run_metadata(tf.RunMetadata(), "tag", 6)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(tf.RunMetadata(), "tag", 7)
    found = events(tmp_path)
    assert found[0].file_version == "brain.Event:2"
    assert [e.WhichOneof("what") for e in found[1:]] == ["graph_def", "meta_graph_def", "summary", "summary",
                                                         "session_log", "tagged_run_metadata"]
    assert tf.GraphDef.FromString(found[1].graph_def).node[0].name == "one"
    assert [(e.step, e.summary.value[0].simple_value) for e in found[3:5]] == [(3, 1), (4, 2)]


def test_reopened_writer_begins_another_file(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(scalar("a", 1), 1)
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(scalar("lost", 1), 1)
    writer.reopen()
    writer.add_summary(scalar("a", 2), 2)
    writer.close()
    assert len(os.listdir(tmp_path)) == 2
    assert [e.step for e in events(tmp_path) if e.HasField("summary")] == [1, 2]


def test_a_growing_file_is_read_on(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.flush()
    reader = tf.train.summary_iterator(glob.glob(str(tmp_path) + "/*")[0])
    assert next(reader).file_version
    with pytest.raises(StopIteration):
        next(reader)
    writer.add_summary(scalar("a", 1), 1)
    writer.flush()
    assert next(reader).step == 1
    writer.close()


@pytest.mark.parametrize("interrupted", [False, True])
def test_everything_is_in_the_file_at_exit(tmp_path, interrupted):
    program = """
import signal, sys, time
import penstock.v1 as tf
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a background job's shell has switched off
writer = tf.summary.FileWriter(%r)
for i in range(2000):
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a" * 100, simple_value=i)]), i)
print("ready", flush=True)
if %r:
    time.sleep(60)
""" % (str(tmp_path), interrupted)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"ready\n"
    if interrupted:
        process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    process.stdout.close()
    assert [e.step for e in events(tmp_path)][1:] == list(range(2000))


def test_damaged_records(tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(scalar("a", 1), 1)
    path = glob.glob(str(tmp_path) + "/*")[0]
    with open(path, "rb") as f:
        data = f.read()
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        with open(path, "wb") as f:
            f.write(damaged)
        with pytest.raises(tf.errors.DataLossError, match="corrupted record|truncated record"):
            list(tf.train.summary_iterator(path))
    with open(path, "wb") as f:
        f.write(data[:-1])
    with pytest.raises(tf.errors.DataLossError, match="truncated record at"):
        list(tf.train.summary_iterator(path))


def test_errors_of_the_disk_are_told(tmp_path):
    os.symlink("/dev/full", tmp_path / "x")
    with pytest.raises(tf.errors.NotFoundError):
        _core.EventWriter(str(tmp_path / "no" / "events")).open()


def test_writer_ops(tmp_path):
    summary_ops = tf.contrib.summary
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        writer = summary_ops.create_file_writer(str(tmp_path))
        with writer.as_default(), summary_ops.always_record_summaries():
            written = [summary_ops.scalar("s", 2.0), summary_ops.histogram("h", [1.0]),
                       summary_ops.image("i", tf.zeros([1, 2, 2, 1])), summary_ops.generic("g", [1, 2]),
                       summary_ops.audio("a", tf.zeros([1, 4]), 8000.0, 1)]
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(written[0], {step: 0})
        sess.run(tf.global_variables_initializer())
        with writer.as_default():
            summary_ops.initialize(graph=tf.get_default_graph())
        sess.run([step.assign(5), writer.init()])
        sess.run(written)
        sess.run(writer.close())
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(written[0])
    found = events(tmp_path)
    assert found[1].WhichOneof("what") == "graph_def"
    assert sorted(e.summary.value[0].tag for e in found[2:]) == ["a/audio", "g", "h", "i/image/0", "s"]
    assert all(e.step == 5 for e in found[2:])


def test_version_two(tmp_path):
    program = """
import numpy as np
import penstock as tf
writer = tf.summary.create_file_writer(%r)
assert not tf.summary.scalar("nowhere", 1.0, step=0)
with writer.as_default(step=3):
    assert tf.summary.scalar("loss", 0.5)
    with tf.summary.record_if(False):
        assert not tf.summary.scalar("loss", 1.0)
    tf.summary.histogram("h", [0.0, 1.0, 2.0, 2.0], buckets=2, step=4)
    tf.summary.text("t", "hello", step=4)
    tf.summary.experimental.write_raw_pb(tf.constant(b""), step=5)
    try:
        tf.summary.experimental.write_raw_pb(tf.constant(b"\\xff"), step=5)
    except tf.errors.DataLossError as e:
        assert "Bad" in str(e)
    else:
        raise AssertionError("bad bytes were written")
writer.close()
try:
    with writer.as_default():
        pass
except RuntimeError:
    pass
else:
    raise AssertionError("a closed writer was used")
""" % str(tmp_path)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    found = [(e.step, v) for e in events(tmp_path) for v in e.summary.value]
    assert [(step, v.tag, v.metadata.plugin_data.plugin_name) for step, v in found] == [
        (3, "loss", "scalars"), (4, "h", "histograms"), (4, "t", "text")]
    assert tf.make_ndarray(found[0][1].tensor) == 0.5
    assert tf.make_ndarray(found[1][1].tensor).tolist() == [[0, 1, 1], [1, 2, 3]]


def test_a_forgotten_writer_of_eager_mode_is_closed(tmp_path):
    import penstock as tf2
    from penstock._src.graph import context

    def is_open():
        targets = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                   if os.path.exists(f"/proc/self/fd/{fd}")]
        return any(target.startswith(str(tmp_path)) for target in targets)
    with context.eager_mode():
        writer = tf2.summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            tf2.summary.scalar("x", 1.0, step=0)
        assert is_open()
        del writer
        assert not is_open()
    event, = [e for e in tf.train.summary_iterator(glob.glob(str(tmp_path / "*"))[0]) if e.summary.value]
    assert event.summary.value[0].tag == "x"


def test_a_writer_flushes_when_its_queue_is_full(tmp_path):
    import penstock as tf2
    from penstock._src.graph import context
    with context.eager_mode():
        with tf2.summary.create_file_writer(str(tmp_path), max_queue=1, flush_millis=999999).as_default():
            assert len(events(tmp_path)) == 1  # the file's version
            tf2.summary.scalar("x", 1.0, step=0)
            assert len(events(tmp_path)) == 1
            tf2.summary.scalar("x", 2.0, step=1)
            assert len(events(tmp_path)) == 3


def test_a_function_cannot_keep_a_writer_that_is_gone(tmp_path):
    import penstock as tf2
    from penstock._src.graph import context

    @tf2.function
    def write():
        with tf2.summary.create_file_writer(str(tmp_path)).as_default():
            tf2.summary.scalar("x", 1.0, step=0)
    with context.eager_mode(), pytest.raises(tf2.errors.NotFoundError, match="Resource.*does not exist"):
        write()


def test_a_writer_that_nobody_closes_writes_everything_at_exit(tmp_path):
    program = """
import penstock as tf
tf.summary.create_file_writer(%r).set_as_default()
tf.summary.scalar("x", 1.0, step=0)
""" % str(tmp_path)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert len(events(tmp_path)) == 2
