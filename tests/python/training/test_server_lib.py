"""tf.train.ClusterSpec and tf.train.Server. The expected values and messages are those of TensorFlow 1.15.5."""
import gc

import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_cluster_spec():
    spec = tf.train.ClusterSpec({"ps": ["p0:1", "p1:2"], "worker": {1: "w1:3"}, "none": []})
    assert spec.as_dict() == {"ps": ["p0:1", "p1:2"], "worker": {1: "w1:3"}, "none": {}}
    assert str(spec) == "ClusterSpec({'none': {}, 'ps': ['p0:1', 'p1:2'], 'worker': {1: 'w1:3'}})"
    assert spec.jobs == ["ps", "worker", "none"] and spec.num_tasks("ps") == 2 and spec.task_indices("worker") == [1]
    assert spec.task_address("ps", 1) == "p1:2" and spec.job_tasks("worker") == [None, "w1:3"]
    assert spec == tf.train.ClusterSpec(spec.as_cluster_def()) == tf.train.ClusterSpec(spec) and bool(spec)
    assert spec != tf.train.ClusterSpec({}) and not tf.train.ClusterSpec({})
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        spec.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 0 in job 'worker'"):
        spec.task_address("worker", 0)
    for bad, message in (("p0:1", "`cluster` must be"), ({"ps": 1}, "The tasks for job 'ps'"), ({1: []}, "Job name 1"),
                         ({"ps": [1]}, "Task address 1")):
        with pytest.raises(TypeError, match=message):
            tf.train.ClusterSpec(bad)


def test_sessions_share_a_server():
    server = tf.train.Server.create_local_server()
    assert server.target.startswith("grpc://localhost:") and server.server_def.job_name == "local"
    v = tf.Variable(1.0, use_resource=True, name="v")
    r = tf.Variable(2.0, use_resource=False, name="r")
    with tf.Session(server.target) as one, tf.Session(server.target) as two, tf.Session() as other:
        one.run(tf.global_variables_initializer())
        one.run([v.assign_add(4.0), r.assign_add(4.0)])
        assert two.run([v.read_value(), r]) == [5.0, 6.0]
        devices = two.list_devices()
        assert devices[0].name == "/job:local/replica:0/task:0/device:CPU:0"
        assert devices[0].incarnation == one.list_devices()[0].incarnation != other.list_devices()[0].incarnation
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(r)
    with tf.Session(server.target) as later:
        assert later.run(r) == 6.0
        with tf.device("/job:local/task:0"):
            assert later.run(tf.constant(3) + 1) == 4
    tf.Session.reset(server.target)
    with tf.Session(server.target) as later:
        with pytest.raises(tf.errors.FailedPreconditionError):
            later.run(r)


def test_a_server_has_a_timeout_for_its_sessions():
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(operation_timeout_in_ms=100))
    value = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.Session(server.target) as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(value)


def test_a_reset_is_for_one_server():
    one, two = tf.train.Server.create_local_server(), tf.train.Server.create_local_server()
    x = tf.constant(1)
    first, second, direct = tf.Session(one.target), tf.Session(two.target), tf.Session()
    tf.Session.reset(one.target)
    with pytest.raises(tf.errors.CancelledError):
        first.run(x)
    assert second.run(x) == direct.run(x) == 1


def test_a_session_outlives_its_server():
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(device_count={"CPU": 2}))
    sess = tf.Session(server.target)
    target = server.target
    del server
    gc.collect()
    assert len(sess.list_devices()) == 2 and sess.run(tf.constant(1)) == 1
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session(target)


def test_what_a_server_is_made_of():
    cluster = {"a": ["localhost:0"], "b": {3: "localhost:0"}}
    two = {"a": ["x:0", "y:0"]}
    for arguments, message in (((cluster,), "explicit `job_name`"), ((two,), "explicit `task_index`")):
        with pytest.raises(ValueError, match=message):
            tf.train.Server(*arguments)
    with pytest.raises(TypeError, match="Could not convert"):
        tf.train.Server("localhost:0")
    with pytest.raises(tf.errors.UnimplementedError):
        tf.train.Server(cluster, job_name="b")
    with pytest.raises(tf.errors.NotFoundError, match="No server factory"):
        tf.train.Server({"a": ["localhost:0"]}, protocol="carrier pigeon")
    server = tf.train.Server({"b": {3: "localhost:0"}}, start=False)
    with pytest.raises(tf.errors.NotFoundError):
        tf.Session(server.target)
    server.start()
    with tf.Session(server.target) as sess:
        assert sess.list_devices()[0].name == "/job:b/replica:0/task:3/device:CPU:0"
    again = tf.train.Server(tf.train.ServerDef(cluster=server.server_def.cluster, job_name="x", protocol="grpc"),
                            job_name="b", task_index=3)
    assert again.server_def.job_name == "b"
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"a": [server.target[len("grpc://"):]]})
