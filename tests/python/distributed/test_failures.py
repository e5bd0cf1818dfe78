"""Tasks that die, stop and start again under a session."""
import pathlib
import signal
import sys
import threading
import time

import pytest

import penstock.v1 as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster  # noqa: E402


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    monkeypatch.setenv("PENSTOCK_TASK_TIMEOUT_MS", "1500")
    with tf.Graph().as_default():
        yield


def waiting_value():
    """A value of the ps that never comes, which the worker waits for."""
    with tf.device("/job:ps"):
        value = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.device("/job:worker"):
        return value + 1


def seconds_until(error, what):
    begin = time.time()
    with pytest.raises(error) as caught:
        what()
    return time.time() - begin, str(caught.value)


@pytest.mark.parametrize("victim, master", [("ps", "worker"), ("worker", "ps"), ("worker", "worker")])
def test_a_killed_task_is_told_to_all_who_wait(victim, master):
    value = waiting_value()
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        sess = tf.Session(tasks.target(master))
        sess.run(tf.constant(1))
        threading.Timer(0.5, tasks.signal, (victim, 0, signal.SIGKILL)).start()
        seconds, message = seconds_until((tf.errors.UnavailableError, tf.errors.AbortedError), lambda: sess.run(value))
        assert seconds < 10 and tasks.spec[victim][0] in message, message


def test_a_stopped_task_is_given_up():
    value = waiting_value()
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        sess = tf.Session(tasks.target("worker"))
        sess.run(tf.constant(1))
        threading.Timer(0.3, tasks.signal, ("ps", 0, signal.SIGSTOP)).start()
        seconds, message = seconds_until(tf.errors.UnavailableError, lambda: sess.run(value))
        assert seconds < 6
        assert "/job:ps/replica:0/task:0 at " + tasks.spec["ps"][0] + " did not answer within 1500 ms" in message
        tasks.signal("ps", 0, signal.SIGCONT)
        with tf.device("/job:ps"):
            assert sess.run(tf.constant(2) * 3) == 6


def test_a_stopped_master_is_given_up():
    value = waiting_value()
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        sess = tf.Session(tasks.target("worker"))
        sess.run(tf.constant(1))
        threading.Timer(0.3, tasks.signal, ("worker", 0, signal.SIGSTOP)).start()
        seconds, message = seconds_until(tf.errors.UnavailableError, lambda: sess.run(value))
        assert seconds < 6 and tasks.spec["worker"][0] in message
        tasks.signal("worker", 0, signal.SIGCONT)


def test_a_long_step_is_not_given_up():
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        with tf.device("/job:ps"):
            queue = tf.FIFOQueue(1, tf.float32, shared_name="queue")
            enqueue, value = queue.enqueue(1.), queue.dequeue()
        with tf.Session(tasks.target("worker")) as sess, tf.Session(tasks.target("ps")) as other:
            other.run(tf.constant(1))
            threading.Timer(4, other.run, (enqueue,)).start()
            assert sess.run(value) == 1.


@pytest.mark.parametrize("victim", ["ps", "worker"])
def test_a_task_that_starts_again_is_another_one(victim):
    with tf.device("/job:ps"):
        v = tf.get_variable("v", initializer=1., use_resource=True)
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        sess = tf.Session(tasks.target("worker"))
        sess.run(v.initializer)
        tasks.signal(victim, 0, signal.SIGKILL)
        tasks.start(victim, 0)
        tasks.wait_for(victim, 0)
        with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
            sess.run(v)
        with tf.Session(tasks.target("worker")) as later:
            if victim == "ps":
                with pytest.raises(tf.errors.FailedPreconditionError):
                    later.run(v)
            else:
                assert later.run(v) == 1.


@pytest.mark.parametrize("victim", ["ps", "worker"])
def test_monitored_training_goes_on(victim, tmp_path):
    """To the end that it has without a failure: the batch follows from the step."""
    with tf.device(tf.train.replica_device_setter(ps_tasks=1)):
        step = tf.train.get_or_create_global_step()
        total = tf.get_variable("total", initializer=0., use_resource=True)
        with tf.control_dependencies([tf.assign_add(total, tf.cast(step, tf.float32))]):
            train = tf.assign_add(step, 1)
    with cluster.Cluster({"ps": 1, "worker": 1}) as tasks:
        def start_again():
            tasks.start(victim, 0)
            tasks.wait_for(victim, 0)

        killed = False
        with tf.train.MonitoredTrainingSession(
                tasks.target("worker"), checkpoint_dir=str(tmp_path), save_checkpoint_steps=10,
                save_summaries_steps=None, log_step_count_steps=None, hooks=[tf.train.StopAtStepHook(60)]) as sess:
            while not sess.should_stop():
                done = sess.run(train)
                if done == 35 and not killed:
                    killed = True
                    tasks.signal(victim, 0, signal.SIGKILL)
                    threading.Timer(0.5, start_again).start()
        assert killed
        with tf.Session(tasks.target("worker")) as sess:
            tf.train.Saver().restore(sess, tf.train.latest_checkpoint(str(tmp_path)))
            assert sess.run([step, total]) == [60, sum(range(60))]
