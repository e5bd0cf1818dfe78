"""Files on servers: S3 (moto answers as Amazon does) and HTTP, on this machine."""
import functools
import http.server
import importlib.util
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import penstock.v1 as tf


def needs(*packages):
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    return pytest.mark.skipif(bool(missing), reason="not installed: " + ", ".join(missing))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Python's own server, which knows no ranges."""

    def log_message(self, *args):
        pass


@pytest.fixture
def web(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "http://127.0.0.1:%d" % server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@needs("fsspec", "aiohttp")
def test_http(web, tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(np.arange(10.0), name="v")
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, str(tmp_path / "ckpt"))
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(100):
            writer.write(b"%d" % i)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(np.zeros(10), name="v")
        tf.train.Saver().restore(sess, web + "/ckpt")
        assert sess.run(v).tolist() == list(range(10))
        with pytest.raises(tf.errors.OpError):
            sess.run(tf.io.write_file(web + "/new", "x"))
    assert list(tf.python_io.tf_record_iterator(web + "/r")) == [b"%d" % i for i in range(100)]
    assert tf.gfile.Exists(web + "/r") and not tf.gfile.Exists(web + "/none")
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.GFile(web + "/none").read()


@pytest.fixture(scope="module")
def s3():
    """A bucket, on a server in a thread of this process."""
    from moto.server import ThreadedMotoServer
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    names = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
             "S3_ENDPOINT": "http://127.0.0.1:%d" % port}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    tf.gfile.MakeDirs("s3://bucket")
    yield "s3://bucket"
    server.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


@pytest.mark.slow
@needs("fsspec", "s3fs", "moto", "flask")
def test_s3_files(s3):
    path = s3 + "/d/f"
    with tf.gfile.GFile(path, "w") as f:
        f.write("one\n" * 1000)
    with tf.gfile.GFile(path) as f:
        assert f.readline() == "one\n" and f.size() == 4000
    with tf.gfile.GFile(path, "a") as f:
        f.write("two\n")
    assert tf.gfile.GFile(path, "rb").read()[-8:] == b"one\ntwo\n"
    assert tf.gfile.Glob(s3 + "/*/f") == [path]
    assert list(tf.gfile.Walk(s3 + "/d")) == [(s3 + "/d", [], ["f"])]
    tf.gfile.Rename(path, s3 + "/g")
    assert not tf.gfile.Exists(path) and tf.gfile.Stat(s3 + "/g").length == 4004
    tf.gfile.Remove(s3 + "/g")
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.GFile(s3 + "/g").read()


@pytest.mark.slow
@needs("fsspec", "s3fs", "moto", "flask")
def test_s3_training(s3):
    base = s3 + "/run"
    value = np.random.RandomState(0).rand(3 << 20).astype(np.float32)  # more than one part of an upload
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(value, name="v")
        saver = tf.train.Saver(max_to_keep=1)
        sess.run(tf.global_variables_initializer())
        writer = tf.summary.FileWriter(base, sess.graph)
        for step in (1, 2):
            writer.add_summary(sess.run(tf.summary.scalar("x", 1.0)), step)
            path = saver.save(sess, base + "/model", global_step=step)
        writer.close()
        assert tf.train.latest_checkpoint(base) == path
        assert [p.rsplit("/", 1)[1] for p in tf.gfile.Glob(base + "/model*")] == [
            "model-2.data-00000-of-00001", "model-2.index", "model-2.meta"]
        sess.run(v.assign(tf.zeros_like(v)))
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(v), value)
    events, = tf.gfile.Glob(base + "/events*")
    assert [e.step for e in tf.train.summary_iterator(events) if e.HasField("summary")] == [1, 2]


@pytest.mark.slow
@needs("fsspec", "s3fs", "moto", "flask")
def test_s3_saving_killed(s3):
    """A process that ends in the middle of saving leaves the checkpoint before."""
    program = textwrap.dedent("""
        import os, sys
        import numpy as np, penstock.v1 as tf
        from penstock._src.files import remote_files
        v = tf.Variable(np.ones(3 << 20, np.float32), name="v")
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            saver.save(sess, sys.argv[1])
            print("saved", flush=True)
            sess.run(v.assign(v + 1))
            remote_files._WholeSink.close = lambda self: os._exit(9)
            saver.save(sess, sys.argv[1])
    """)
    result = subprocess.run([sys.executable, "-c", program, s3 + "/killed/model"], capture_output=True, timeout=120)
    assert result.returncode == 9 and result.stdout == b"saved\n"
    assert tf.train.load_variable(s3 + "/killed/model", "v")[0] == 1
