"""Steps that wait and steps that wake them: neither runs inside the other, and none holds a thread that others need."""

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import penstock.v1 as tf

LONG = 60  # seconds until a test that would have no end fails


class Waiter:
    """A dataset element that exists once `go()` was called; `waiting` is set when somebody asks for it."""

    def __init__(self, value=7):
        self.waiting, self.event = threading.Event(), threading.Event()
        dataset = tf.data.Dataset.from_generator(self.give, tf.int32, [])
        self.next = tf.data.make_one_shot_iterator(dataset).get_next()
        self.value = value

    def give(self):
        self.waiting.set()
        assert self.event.wait(LONG)
        yield self.value

    def go(self):
        self.event.set()


def start(function):
    """Runs `function` on a thread; the result's `join()` returns its value or raises its exception."""
    result = {}

    def run():
        try:
            result["value"] = function()
        except Exception as error:  # noqa: BLE001
            result["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join():
        thread.join(LONG)
        assert not thread.is_alive(), "the call does not return"
        if "error" in result:
            raise result["error"]
        return result["value"]

    return join


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def wait_until_pending(sess, queue_size, wanted):
    for _ in range(10000):
        if sess.run(queue_size) == wanted:
            return
    raise AssertionError("the queue did not reach its size")


def test_waking_a_step_does_not_run_it(sess):
    queue = tf.FIFOQueue(1, tf.int32, [])
    waiter = Waiter()
    enqueue = queue.enqueue(1)
    with tf.control_dependencies([queue.dequeue()]):
        second = tf.identity(waiter.next)  # waits for what the waker gives after its call
    consumer = start(lambda: sess.run(second))
    sess.run(enqueue)
    sess.run(enqueue)  # the first element was taken: the consumer has been woken
    waiter.go()
    assert consumer() == 7


def test_a_waker_returns_while_whom_it_woke_computes(sess):
    queue = tf.FIFOQueue(1, tf.int32, [])
    waiter = Waiter()
    with tf.control_dependencies([queue.dequeue()]):
        slow = tf.identity(waiter.next)
    consumer = start(lambda: sess.run(slow))
    sess.run(queue.enqueue(1), options=tf.RunOptions(timeout_in_ms=20000))
    assert waiter.waiting.wait(LONG)
    waiter.go()
    assert consumer() == 7


def test_steps_woken_together_run_together(sess):
    meet = threading.Barrier(4)

    def give():
        meet.wait(LONG)
        yield 1

    queue = tf.FIFOQueue(10, tf.int32, [])
    taken = queue.dequeue()
    fetches = []
    for _ in range(4):
        with tf.control_dependencies([queue.dequeue()]):
            dataset = tf.data.Dataset.from_generator(give, tf.int32, [])
            fetches.append(tf.identity(tf.data.make_one_shot_iterator(dataset).get_next()))
    del taken
    consumers = [start(lambda f=f: sess.run(f)) for f in fetches]
    sess.run(queue.enqueue_many([[1, 2, 3, 4]]))
    assert [join() for join in consumers] == [1] * 4


def test_iterators_of_one_step_wait_together(sess):
    meet = threading.Barrier(4)

    def give():
        meet.wait(LONG)
        yield 3

    nexts = [tf.data.make_one_shot_iterator(tf.data.Dataset.from_generator(give, tf.int32, [])).get_next()
             for _ in range(4)]
    assert start(lambda: sess.run(nexts))() == [3] * 4


def test_a_function_that_waits_for_an_iterator_holds_no_shared_thread(sess):
    waiter = Waiter()
    iterator = tf.data.make_initializable_iterator(
        tf.data.Dataset.from_generator(waiter.give, tf.int32, []))
    handle = iterator._iterator_resource  # noqa: SLF001
    meet = tf.FIFOQueue(1, tf.int32, [])

    @tf.function
    def read():
        return tf.raw_ops.IteratorGetNext(iterator=handle, output_types=[tf.int32], output_shapes=[[]])[0]

    sess.run(iterator.initializer)
    with tf.control_dependencies([meet.dequeue()]):  # goes on where others wake it
        value = read()
    consumer = start(lambda: sess.run(value))
    sess.run(meet.enqueue(1))
    assert waiter.waiting.wait(LONG)
    others = [tf.FIFOQueue(1, tf.int32, []) for _ in range(3)]
    for other in others:  # steps of the same session that need its pool
        reader = start(lambda q=other.dequeue(): sess.run(q))
        sess.run(other.enqueue(5))
        assert reader() == 5
    waiter.go()
    assert consumer() == 7


def test_a_session_that_waits_leaves_others_alone():
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as waits, tf.Session(config=config) as other:
        waiter, queue = Waiter(), tf.FIFOQueue(1, tf.int32, [])
        with tf.control_dependencies([queue.dequeue()]):
            value = tf.identity(waiter.next)
        with tf.device("/cpu:1"):
            one = tf.constant(1) + 0 * tf.placeholder_with_default(0, [])
        with tf.device("/cpu:0"):
            two = one + 1
        consumer = start(lambda: waits.run(value))
        waits.run(queue.enqueue(1))
        assert waiter.waiting.wait(LONG)
        for timeout in (0, 30000):
            options = tf.RunOptions(timeout_in_ms=timeout)
            assert start(lambda o=options: other.run(two, options=o))() == 2
        waiter.go()
        assert consumer() == 7


def test_a_chain_of_waiting_queues_is_no_recursion(sess):
    count = 10000
    queues = [tf.FIFOQueue(1, tf.int32, [], name="q") for _ in range(count)]
    links = [b.enqueue(a.dequeue()) for a, b in zip(queues, queues[1:])]
    chain = start(lambda: sess.run(links))
    sess.run(queues[0].enqueue(5))
    assert start(lambda: sess.run(queues[-1].dequeue()))() == 5
    chain()


@pytest.mark.parametrize("kind", ["queue", "iterator"])
def test_a_time_limit_ends_a_step_that_waits(sess, kind):
    waiter, queue = Waiter(), tf.FIFOQueue(1, tf.int32, [])
    fetch = queue.dequeue() if kind == "queue" else waiter.next
    with pytest.raises(tf.errors.DeadlineExceededError, match="within 50 ms"):
        start(lambda: sess.run(fetch, options=tf.RunOptions(timeout_in_ms=50)))()
    waiter.go()
    sess.run(queue.enqueue(1))
    assert sess.run(queue.dequeue()) == 1


@pytest.mark.parametrize("end", ["close", "reset"])
def test_closing_ends_what_waits(end):
    with tf.Graph().as_default():
        sess = tf.Session()
        queue, waiter = tf.FIFOQueue(1, tf.int32, []), Waiter()
        take, both = queue.dequeue(), [tf.FIFOQueue(1, tf.int32, []).dequeue(), waiter.next]
        waiting = [start(lambda: sess.run(take)), start(lambda: sess.run(both))]
        assert waiter.waiting.wait(LONG)
        if end == "close":
            sess.close()
        else:
            tf.Session.reset("")
        for join in waiting:
            with pytest.raises(tf.errors.CancelledError):
                join()
        waiter.go()


FEW_THREADS = """
    import os, resource, sys
    import numpy as np
    import penstock.v1 as tf
    os.setgid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    os.setuid(65534)
    try:
        import threading
        threading.Thread(target=lambda: None).start()
    except RuntimeError:
        pass
    else:
        sys.exit(77)  # the limit does not hold here

    def attempt(fetch, **kwargs):
        try:
            return sess.run(fetch, **kwargs)
        except tf.errors.ResourceExhaustedError as error:
            return type(error)

    config = tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=4, inter_op_parallelism_threads=4)
    with tf.Session(config=config) as sess:
        x = np.random.default_rng(1).standard_normal((600, 600))
        a = tf.placeholder(tf.float64, [600, 600])
        product = tf.matmul(a, a)
        np.testing.assert_allclose(sess.run(product, {a: x}), x @ x)
        with tf.device("/cpu:1"):
            b = tf.reduce_sum(a)
        with tf.device("/cpu:0"):
            c = b + 1
        np.testing.assert_allclose(sess.run(c, {a: x}), x.sum() + 1)
        queue = tf.FIFOQueue(3, tf.int32, [])
        sess.run([queue.enqueue(i) for i in range(3)])
        assert sorted(sess.run([queue.dequeue() for _ in range(3)])) == [0, 1, 2]
        data = tf.data.Dataset.range(5).map(lambda v: v * 2)
        nexts = [tf.data.make_one_shot_iterator(data).get_next() for _ in range(2)]
        assert sess.run(nexts) == [0, 0]
        ahead = tf.data.make_one_shot_iterator(data.prefetch(2)).get_next()
        assert attempt(ahead) in (0, tf.errors.ResourceExhaustedError)
        options = tf.RunOptions(timeout_in_ms=10000)
        assert attempt(c, feed_dict={a: x}, options=options) is tf.errors.ResourceExhaustedError
        assert sess.run(tf.constant(3)) == 3
        called = tf.py_func(lambda v: v * 2, [a], tf.float64)
        np.testing.assert_array_equal(sess.run(called, {a: x}), x * 2)
    print("done", flush=True)
    os._exit(0)
"""


def test_a_process_that_may_start_no_threads_still_computes():
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(FEW_THREADS)], capture_output=True, text=True,
                            timeout=LONG, env=dict(__import__("os").environ, OPENBLAS_NUM_THREADS="1"))
    if result.returncode == 77 or "PermissionError" in result.stderr:
        pytest.skip("needs a user whose threads can be limited")
    assert result.stdout.strip() == "done", result.stderr


def test_many_sessions_queues_and_closings():
    """Producers and consumers on many threads, some of which are closed while they wait; every element arrives once."""
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(3, tf.int64, [])
        value = tf.placeholder(tf.int64, [])
        put, take = queue.enqueue(value), queue.dequeue()
        count, threads = 200, 4
        producers = [start(lambda t=t: [sess.run(put, {value: t * count + i}) for i in range(count)] and None)
                     for t in range(threads)]
        consumers = [start(lambda: [sess.run(take) for _ in range(count)]) for _ in range(threads)]
        for join in producers:
            join()
        seen = np.concatenate([join() for join in consumers])
        assert sorted(seen) == list(range(threads * count))
