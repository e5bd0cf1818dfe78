"""Coordinator and QueueRunner."""
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import penstock.v1 as tf


def test_coordinator_joins_and_stops():
    coord = tf.train.Coordinator()
    seen = []

    def work():
        while not coord.should_stop():
            seen.append(1)
            if len(seen) > 5:
                coord.request_stop()
            time.sleep(0.001)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    coord.join(threads)
    assert coord.joined and coord.should_stop()
    coord.clear_stop()
    assert not coord.should_stop()


def test_coordinator_raises_what_a_thread_raised():
    coord = tf.train.Coordinator()

    def work():
        with coord.stop_on_exception():
            raise ValueError("in the thread")

    t = threading.Thread(target=work)
    coord.register_thread(t)
    t.start()
    with pytest.raises(ValueError, match="in the thread"):
        coord.join()


def test_end_of_input_is_no_error():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coord.join([])


def test_coordinator_names_stragglers():
    coord = tf.train.Coordinator()
    release = threading.Event()
    t = threading.Thread(target=release.wait, name="slow")
    t.start()
    coord.request_stop()
    try:
        with pytest.raises(RuntimeError, match="slow"):
            coord.join([t], stop_grace_period_secs=0.05)
        coord.join([t], stop_grace_period_secs=0.05, ignore_live_threads=True)
    finally:
        release.set()


def test_looper_thread():
    coord = tf.train.Coordinator()
    count = []

    def work():
        count.append(1)
        if len(count) == 3:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.001, work)
    coord.join()
    assert len(count) == 3
    with pytest.raises(ValueError):
        tf.train.LooperThread(None, 1)


def test_queue_runner_fills_and_closes():
    with tf.Graph().as_default():
        count = tf.Variable(0)
        queue = tf.FIFOQueue(3, tf.int32)
        enqueue = queue.enqueue(tf.count_up_to(count, 5))
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
        value = queue.dequeue()
        with tf.Session() as sess:
            sess.run(count.initializer)
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            assert len(threads) == 2
            got = []
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    got.append(sess.run(value))
            assert got == [0, 1, 2, 3, 4]
            coord.request_stop()
            coord.join(threads)


def test_queue_runner_reports_errors():
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(3, tf.float32)
        never = tf.Variable(1.0)
        runner = tf.train.QueueRunner(queue, [queue.enqueue(never)])
        with tf.Session() as sess:
            coord = tf.train.Coordinator()
            threads = runner.create_threads(sess, coord, start=True)
            with pytest.raises(tf.errors.FailedPreconditionError):
                coord.join(threads)
        with pytest.raises(ValueError):
            tf.train.QueueRunner(queue, [])
        with pytest.raises(TypeError):
            tf.train.QueueRunner(queue, [1], queue_closed_exception_types=(ValueError,))



def test_queues_of_a_graph_that_another_process_wrote(tmp_path):
    """Collections become objects whatever the program that imports them has used before."""
    program = """
        import sys
        import penstock.v1 as tf
        tf.train.import_meta_graph(sys.argv[1])
        with tf.train.MonitoredTrainingSession() as sess:
            while not sess.should_stop():
                print(sess.run(tf.get_collection("item")))
        """
    with tf.Graph().as_default():
        queue = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
        tf.add_to_collection("item", queue.dequeue())
        tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "graph.meta")],
                          capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["[b'a']", "[b'b']"] * 2, done.stderr
