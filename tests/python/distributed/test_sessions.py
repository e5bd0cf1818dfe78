"""Sessions of clusters besides their steps. The expected values are those of TensorFlow 2.21."""
import pathlib
import sys
import threading
import time

import numpy as np
import pytest

import penstock.v1 as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster  # noqa: E402


@pytest.fixture(scope="module")
def tasks():
    with cluster.Cluster({"ps": 1, "worker": 1}) as started:
        yield started


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_a_run_in_pieces(tasks):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device("/job:ps"):
        double = a * 2
    total = double + b
    with tf.Session(tasks.target("worker")) as sess:
        for _ in range(2):
            run = sess.partial_run_setup([double, total], [a, b])
            assert sess.partial_run(run, double, {a: 3.}) == 6.
            with pytest.raises(tf.errors.InvalidArgumentError, match="already been fed"):
                sess.partial_run(run, total, {a: 1.})
            assert sess.partial_run(run, total, {b: 1.}) == 7.
            with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
                sess.partial_run(run, total)


def test_callables(tasks):
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/job:ps"):
        y = x * 10
    with tf.Session(tasks.target("ps")) as sess:
        call = sess.make_callable(y, [x])
        assert call(np.array([1, 2], np.float32)).tolist() == [10, 20]
        assert call(np.array([3, 4], np.float32)).tolist() == [30, 40]


def test_sessions_share_state_and_reset_clears_it(tasks):
    with tf.device("/job:ps"):
        v = tf.get_variable("shared", initializer=1., use_resource=True)
        r = tf.get_variable("reference", initializer=1., use_resource=False)
    one, two = tf.Session(tasks.target("worker")), tf.Session(tasks.target("ps"))
    one.run(tf.global_variables_initializer())
    one.run([v.assign_add(1.), r.assign_add(2.)])
    assert two.run([v, r]) == [2., 3.]
    two.close()
    with pytest.raises(RuntimeError, match="closed"):
        two.run(v)
    tf.Session.reset(tasks.target("worker"))
    with pytest.raises(tf.errors.AbortedError):
        one.run(v)
    with tf.Session(tasks.target("worker")) as later, pytest.raises(tf.errors.FailedPreconditionError):
        later.run(r)


def test_an_isolated_session_has_variables_of_its_own(tasks):
    with tf.device("/job:ps"):
        v = tf.get_variable("isolated", initializer=1., use_resource=False)
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(tasks.target("worker")) as shared, tf.Session(tasks.target("worker"), config=config) as isolated:
        shared.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            isolated.run(v)


def test_the_cause_of_a_failure_is_reported_however_its_consequences_race(tasks):
    with tf.device("/job:ps"):
        v = tf.get_variable("never_initialized", shape=[], use_resource=True)
    with tf.Session(tasks.target("worker")) as sess:
        for _ in range(100):
            with pytest.raises(tf.errors.FailedPreconditionError, match="From /job:ps/replica:0/task:0:\n"):
                sess.run(v)


def test_device_filters_hide_tasks(tasks):
    x = tf.constant(1) + 1
    config = tf.ConfigProto(device_filters=["/job:worker"])
    with tf.Session(tasks.target("worker"), config=config) as sess:
        assert [device.name for device in sess.list_devices()] == ["/job:worker/replica:0/task:0/device:CPU:0"]
        assert sess.run(x) == 2


def test_time_limits(tasks):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32)
    value = queue.dequeue() + 1
    with tf.Session(tasks.target("worker")) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(value, options=tf.RunOptions(timeout_in_ms=100))
        sess.run(queue.enqueue(1.))
        assert sess.run(value) == 2.
    with tf.Session(tasks.target("worker"), config=tf.ConfigProto(operation_timeout_in_ms=100)) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(value)


def test_closing_a_session_ends_its_steps(tasks):
    with tf.device("/job:ps"):
        value = tf.FIFOQueue(1, tf.float32).dequeue()
    sess = tf.Session(tasks.target("worker"))
    errors = []

    def run():
        try:
            sess.run(value)
        except tf.errors.OpError as e:
            errors.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    sess.close()
    thread.join(10)
    assert isinstance(errors[0], tf.errors.CancelledError)


def test_the_graph_grows_between_steps(tasks):
    with tf.Session(tasks.target("worker")) as sess:
        x = tf.constant(1.)
        for task in ("ps", "worker", "ps"):
            with tf.device(f"/job:{task}"):
                x = x * 2
            sess.run(x)
        assert sess.run(x) == 8.

        @tf.function(autograph=False)
        def square(value):
            return value * value

        assert sess.run(square(x)) == 64.


def test_large_and_many_values(tasks):
    with tf.device("/job:ps"):
        large = tf.fill([5 << 20], 1.5)  # 20 MB
        many = [tf.constant(i) for i in range(200)]
        text = tf.constant(["x" * 1000] * 1000)
    with tf.device("/job:worker"):
        total, many_there = tf.reduce_sum(large), tf.stack([tf.identity(one) for one in many])
        lengths = tf.reduce_sum(tf.strings.length(text))
    with tf.Session(tasks.target("worker")) as sess:
        assert sess.run(total) == 1.5 * (5 << 20)
        assert sess.run(many_there).tolist() == list(range(200))
        assert sess.run(lengths) == 1000 * 1000
        fed = tf.placeholder(tf.float32)
        with tf.device("/job:ps"):
            echo = fed + 1
        values = np.arange(5 << 20, dtype=np.float32)
        np.testing.assert_array_equal(sess.run(echo, {fed: values}), values + 1)


def test_a_session_brings_its_cluster():
    servers = [tf.train.Server.create_local_server() for _ in range(2)]
    addresses = [server.target[len("grpc://"):] for server in servers]
    spec = tf.train.ClusterSpec({"mine": {0: addresses[0], 5: addresses[1]}})
    config = tf.ConfigProto(cluster_def=spec.as_cluster_def())
    with tf.device("/job:mine/task:5"):
        v = tf.get_variable("v", initializer=1., use_resource=False)
    with tf.Session(servers[0].target, config=config) as sess:
        assert [device.name for device in sess.list_devices()] == [
            f"/job:mine/replica:0/task:{task}/device:CPU:0" for task in (0, 5)]
        sess.run(v.initializer)
        assert sess.run(v + 1) == 2.
    elsewhere = tf.train.ClusterSpec({"mine": [addresses[1]]})
    with tf.Session(servers[0].target, config=tf.ConfigProto(cluster_def=elsewhere.as_cluster_def())) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find the session's target"):
            sess.run(tf.constant(1))


def test_bad_targets():
    x = tf.constant(1)
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session("carrier://pigeon")
    port, = cluster.free_ports(1)
    with tf.Session(f"grpc://localhost:{port}", config=tf.ConfigProto(operation_timeout_in_ms=300)) as sess:
        with pytest.raises((tf.errors.DeadlineExceededError, tf.errors.UnavailableError)):
            sess.run(x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Session("grpc://localhost")
