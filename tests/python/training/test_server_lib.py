"""tf.train.ClusterSpec and tf.train.Server. The expected values and messages are those of TensorFlow 1.15.5."""
import gc
import socket

import pytest

import penstock.v1 as tf
from penstock._src.function import defun as function


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


def make_cluster(**jobs):
    """Servers of a cluster in this process: job -> list of servers."""
    def free_port():
        with socket.socket() as s:
            s.bind(("", 0))
            return s.getsockname()[1]

    spec = {job: [f"localhost:{free_port()}" for _ in range(count)] for job, count in jobs.items()}
    return {job: [tf.train.Server(spec, job_name=job, task_index=i) for i in range(count)]
            for job, count in jobs.items()}


def test_a_cluster_in_one_process():
    servers = make_cluster(ps=1, worker=2)
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, use_resource=False, name="v")
    with tf.device("/job:worker/task:1"):
        y = v * 10.0
    z = y + 1.0
    gradient, = tf.gradients(z, v)
    with tf.Session(servers["worker"][0].target) as one, tf.Session(servers["worker"][1].target) as two:
        names = [f"/job:{job}/replica:0/task:{i}/device:CPU:0" for job, i in (("ps", 0), ("worker", 0), ("worker", 1))]
        assert sorted(d.name for d in one.list_devices()) == names
        one.run(v.initializer)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert two.run(v.assign_add(2.0)) == 3.0
        assert one.run([z, gradient], options=options, run_metadata=metadata) == [31.0, 10.0]
        where = {node.node_name: stats.device for stats in metadata.step_stats.dev_stats for node in stats.node_stats}
        assert [where[op.name] for op in (v.op, z.op, y.op)] == names
    only_ps = tf.ConfigProto(device_filters=["/job:ps"])
    with tf.Session(servers["worker"][0].target, config=only_ps) as sess:
        assert len(sess.list_devices()) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="worker/task:1"):  # the whole graph is placed
            sess.run(v)


def test_a_cluster_stays_together():
    worker = make_cluster(ps=1, worker=1)["worker"][0]
    gc.collect()
    with tf.device("/job:ps/task:0"):
        x = tf.constant(1) + 2
    with tf.Session(worker.target) as sess:
        assert sess.run(x) == 3


def test_a_function_runs_on_another_task():
    servers = make_cluster(ps=1, worker=1)

    @function.Defun(tf.int32, tf.int32)
    def product(x, y):
        return x * y

    for target in ("/job:ps/task:0", "/job:ps/replica:0/task:0/device:CPU:0"):
        result = tf.raw_ops.RemoteCall(target=target, args=[tf.constant(6), tf.constant(7)], Tout=[tf.int32], f=product)
        with tf.Session(servers["worker"][0].target) as sess:
            assert sess.run(result) == [42]


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
    for _ in range(2):
        with pytest.raises(tf.errors.AbortedError):
            first.run(x)
    assert second.run(x) == direct.run(x) == 1
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session.reset("nonexistent")


def test_isolated_sessions_share_no_state():
    server = tf.train.Server.create_local_server()
    value = tf.placeholder(tf.int32)
    v = tf.Variable(value, validate_shape=False, use_resource=False)
    configs = [tf.ConfigProto(isolate_session_state=isolated) for isolated in (False, False, True, True)]
    sessions = [tf.Session(server.target, config=config) for config in configs]

    def values():
        found = []
        for sess in sessions:
            try:
                found.append(sess.run(v).tolist())
            except tf.errors.FailedPreconditionError:
                found.append(None)
        return found

    assert values() == [None] * 4
    sessions[0].run(v.initializer, {value: 86})
    assert values() == [86, 86, None, None]
    sessions[2].run(v.initializer, {value: 37})
    sessions[1].run(v.initializer, {value: [1, 2]})
    assert values() == [[1, 2], [1, 2], 37, None]
    assert sessions[3].list_devices()[0].name == "/job:local/replica:0/task:0/device:CPU:0"
    tf.Session.reset(server.target)
    with pytest.raises(tf.errors.AbortedError):
        sessions[2].run(v)


def test_a_session_outlives_its_server():
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(device_count={"CPU": 2}))
    sess = tf.Session(server.target)
    target = server.target
    del server
    gc.collect()
    assert len(sess.list_devices()) == 2 and sess.run(tf.constant(1)) == 1
    with tf.Session(target) as later:  # the server lives as long as its process
        assert later.run(tf.constant(2)) == 2


def test_what_a_server_is_made_of():
    cluster = {"a": ["localhost:0"], "b": {3: "localhost:0"}}
    two = {"a": ["x:0", "y:0"]}
    for arguments, message in (((cluster,), "explicit `job_name`"), ((two,), "explicit `task_index`")):
        with pytest.raises(ValueError, match=message):
            tf.train.Server(*arguments)
    with pytest.raises(TypeError, match="Could not convert"):
        tf.train.Server("localhost:0")
    alone = tf.train.Server(cluster, job_name="b")
    impatient = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session(alone.target, config=impatient) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError, match="answer from /job:a/replica:0/task:0"):
            sess.run(tf.constant(1))
    with pytest.raises(tf.errors.NotFoundError, match="No server factory"):
        tf.train.Server({"a": ["localhost:0"]}, protocol="carrier pigeon")
    server = tf.train.Server({"b": {3: "localhost:0"}}, start=False)
    server.start()
    with tf.Session(server.target) as sess:
        assert sess.list_devices()[0].name == "/job:b/replica:0/task:3/device:CPU:0"
    again = tf.train.Server(tf.train.ServerDef(cluster=server.server_def.cluster, job_name="x", protocol="grpc"),
                            job_name="b", task_index=3)
    assert again.server_def.job_name == "b"
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"a": [server.target[len("grpc://"):]]})


def begin_a_pipeline(server):
    with tf.Graph().as_default():
        table = tf.constant([10, 20, 30])
        dataset = tf.data.Dataset.range(6).map(lambda x: table[x % 3] + tf.cast(x, tf.int32), num_parallel_calls=2)
        dataset = dataset.flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(2)).prefetch(2)
        iterator = tf.data.make_initializable_iterator(dataset, shared_name="of_the_server")
        with tf.Session(server.target) as session:
            session.run(iterator.initializer)
            assert [session.run(iterator.get_next()) for _ in range(3)] == [10, 10, 21]


def test_an_iterator_of_a_server_outlives_its_session():
    """With the functions of its pipeline, whose graph the second session does not know; TensorFlow 1.15.5 as well."""
    server = tf.train.Server.create_local_server()
    begin_a_pipeline(server)
    gc.collect()
    with tf.Graph().as_default():
        iterator = tf.data.Iterator.from_structure(tf.int32, [], shared_name="of_the_server")
        element = iterator.get_next()
        with tf.Session(server.target) as session:
            assert [session.run(element) for _ in range(9)] == [21, 32, 32, 13, 13, 24, 24, 35, 35]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
