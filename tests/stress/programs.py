"""Random mixtures of what threads may do to one process at a time. `python programs.py KIND SEED RUNS` prints what it
did and ends with 0 if every value was right; each kind is a function below."""

import contextlib
import os
import random
import signal
import sys
import threading
import time

import numpy as np

import penstock.v1 as tf

EXPECTED = (tf.errors.CancelledError, tf.errors.AbortedError, tf.errors.DeadlineExceededError, RuntimeError)


class Model:
    """A graph with a step of each kind; `check(sess, kind, rng)` runs one and looks at its values."""

    def __init__(self, config=None):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None])
            self.total = tf.reduce_sum(self.x * 2)
            self.n = tf.placeholder(tf.int32, [])
            self.loop = tf.while_loop(lambda i, s: i < self.n, lambda i, s: (i + 1, s + i), [0, 0])[1]
            swap = tf.while_loop(lambda i, s: i < self.n, lambda i, s: (i + 1, self.called(s)), [0, 0])[1]
            self.python_loop = swap
            self.branch = tf.cond(self.n > 5, lambda: self.n * 2, lambda: self.called(self.n))
            self.python = tf.py_func(lambda v: v + np.float32(1), [self.total], tf.float32)
            self.queue = tf.FIFOQueue(4, tf.int32, [])
            self.value = tf.placeholder(tf.int32, [])
            self.put, self.take = self.queue.enqueue(self.value), self.queue.dequeue()
            data = tf.data.Dataset.range(1 << 40).map(lambda v: v * 3, num_parallel_calls=2).prefetch(2)
            self.next = tf.data.make_one_shot_iterator(data).get_next()
            with tf.device("/cpu:1"):
                far = tf.identity(self.n) * 3
            with tf.device("/cpu:0"):
                self.two_devices = far + 1
            self.counter = tf.Variable(0, use_resource=True)
            self.count = self.counter.assign_add(1, read_value=False)
            self.initialize = tf.global_variables_initializer()

    @staticmethod
    def called(value):
        result = tf.py_func(lambda v: v + np.int32(1), [value], tf.int32)
        result.set_shape(value.shape)
        return result

    def check(self, sess, kind, rng):
        n = rng.randrange(20)
        if kind == "sum":
            values = np.arange(rng.choice([0, 3, 1000, 200000]), dtype=np.float32) % 7
            assert sess.run(self.total, {self.x: values}) == values.sum() * 2
        elif kind == "loop":
            assert sess.run(self.loop, {self.n: n}) == n * (n - 1) // 2
        elif kind == "python loop":
            assert sess.run(self.python_loop, {self.n: n}) == n
        elif kind == "branch":
            assert sess.run(self.branch, {self.n: n}) == (2 * n if n > 5 else n + 1)
        elif kind == "python":
            assert sess.run(self.python, {self.x: [1.0, 2.0]}) == 7
        elif kind == "next":
            assert sess.run(self.next) % 3 == 0
        elif kind == "two devices":
            options = tf.RunOptions(timeout_in_ms=rng.choice([0, 60000]))
            assert sess.run(self.two_devices, {self.n: n}, options=options) == 3 * n + 1
        elif kind == "count":
            sess.run(self.count)
        elif kind == "queue":  # what is put is taken by somebody
            sess.run(self.put, {self.value: 1})
            assert sess.run(self.take) == 1
        elif kind == "timeout":  # an empty queue of its own
            with self.graph.as_default():
                empty = tf.FIFOQueue(1, tf.int32, []).dequeue()
            with contextlib.suppress(tf.errors.DeadlineExceededError):
                sess.run(empty, options=tf.RunOptions(timeout_in_ms=rng.randrange(1, 5)))
                raise AssertionError("an empty queue gave an element")
        elif kind == "grow":
            with self.graph.as_default():
                grown = tf.constant(n) + self.n
            assert sess.run(grown, {self.n: 1}) == n + 1


KINDS = ["sum", "loop", "python loop", "branch", "python", "next", "two devices", "count", "queue", "timeout", "grow"]


def config():
    return tf.ConfigProto(device_count={"CPU": 2})


def on_threads(count, function):
    """Calls `function(number)` on `count` threads; raises the first exception."""
    errors = []

    def run(i):
        try:
            function(i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
        if thread.is_alive():
            raise AssertionError("a thread hangs")
    if errors:
        raise errors[0]


def mixed(seed, runs):
    """All kinds of steps on 31 threads and three sessions; counted updates are neither lost nor doubled."""
    model = Model()
    with tf.Session(graph=model.graph, config=config()) as one, tf.Session(graph=model.graph, config=config()) as two, \
            tf.Session(graph=model.graph) as three:
        sessions = [one, two, three]
        for sess in sessions:
            sess.run(model.initialize)
        counts = [[0] * 31 for _ in sessions]

        def work(i):
            rng = random.Random(seed * 100 + i)
            for _ in range(runs):
                s = rng.randrange(3)
                kind = rng.choice(KINDS)
                if kind == "two devices" and s == 2:
                    continue
                model.check(sessions[s], kind, rng)
                counts[s][i] += kind == "count"

        on_threads(31, work)
        for sess, count in zip(sessions, counts):
            assert sess.run(model.counter.read_value()) == sum(count)


@tf.custom_gradient
def doubled(x):
    return x * 2, lambda dy: dy * 2


def building(seed, runs):
    """Threads extend, differentiate and change one graph while others compile and run parts of it. Each step is new
    and has 2,000 nodes, all of which two threads keep changing, so nodes that are copied without the graph's mutex
    crash the process."""
    nodes = 2000
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        ones = [tf.constant(1.0), tf.constant(1.0)]
        values = [x]
        for i in range(nodes):
            values.append(tf.add(values[-1], ones[0]))
        short = [x]
        for i in range(60):
            short.append(doubled(short[-1]) / 2 + 1 if i % 10 == 5 else short[-1] * 1 + 1)
        first = tf.no_op()
    changed = [value.op for value in values[1:]]
    done = []  # threads that have run all their steps

    def compile_and_run(rng, sess, run):
        with graph.as_default():
            y = values[-1 - run % 7] * float(run)  # a new step in each run
        assert sess.run(y, {x: 2}) == (2 + nodes - run % 7) * run

    def differentiate(rng, sess, run):
        n = rng.randrange(1, 60)
        with graph.as_default():
            gradient = tf.gradients(tf.square(short[n]), x)[0]
            second = tf.gradients(gradient, x)[0]
        assert sess.run([gradient, second], {x: 2}) == [2 * (2 + n), 2]

    def change(rng):
        """Changes every node once, in random order."""
        for op in rng.sample(changed, nodes):
            op._set_device(rng.choice(["", "/device:CPU:0", "/job:localhost/replica:0/task:0/cpu:0"]))
            for i in range(3):
                op._set_attr(f"_note_{i}", tf.AttrValue(s=b"a note that needs memory " * rng.randrange(1, 9)))
            for i in range(3):
                op._clear_attr(f"_note_{i}")
            op._update_input(1, rng.choice(ones))
            op._add_control_input(rng.choice([first, ones[0].op, ones[1].op]))
            op._remove_all_control_inputs()
            op.outputs[0].set_shape([])

    def work(i):
        rng = random.Random(seed * 100 + i)
        if i < 2:
            while len(done) < 4:
                change(rng)
            return
        try:
            with tf.Session(graph=graph) as sess:
                for run in range(runs):
                    (compile_and_run if i < 5 else differentiate)(rng, sess, run * 3 + i)
        finally:
            done.append(i)

    on_threads(6, work)


def closing(seed, runs):
    """Sessions are closed and reset while others use them: what fails says so, and nothing waits for ever."""
    model = Model()
    for round_number in range(max(1, runs // 5)):
        rng = random.Random(seed * 1000 + round_number)
        sess = tf.Session(graph=model.graph, config=config())
        sess.run(model.initialize)
        stop = threading.Event()

        def work(i):
            own = random.Random(seed * 1000 + round_number * 50 + i)
            try:
                while not stop.is_set():
                    if own.random() < 0.2:
                        sess.run(model.take)  # nobody puts: only closing ends it
                    else:
                        model.check(sess, own.choice(KINDS), own)
            except EXPECTED:
                pass

        def close(i):
            if i < 8:
                return work(i)
            time.sleep(rng.random() * 0.05)
            tf.Session.reset("") if rng.random() < 0.3 else sess.close()
            stop.set()

        on_threads(9, close)
        sess.close()


def forking(seed, runs):
    """Children forked while other threads compute, run steps of their own and exit."""
    model = Model()
    with tf.Session(graph=model.graph, config=config()) as sess:
        sess.run(model.initialize)
        stop = threading.Event()

        def work(i):
            rng = random.Random(seed + i)
            while not stop.is_set():
                model.check(sess, rng.choice(["sum", "loop", "two devices", "count", "queue"]), rng)

        def fork(i):
            if i < 4:
                return work(i)
            try:
                for _ in range(runs):
                    child = os.fork()
                    if child == 0:
                        code = 1
                        try:
                            with tf.Graph().as_default(), tf.Session(config=config()) as own:
                                x = tf.constant(np.ones((300, 300), np.float32))
                                code = 0 if own.run(tf.reduce_sum(tf.matmul(x, x))) == 300 ** 3 else 2
                        finally:
                            os._exit(code)
                    deadline = time.monotonic() + 60
                    while True:
                        pid, status = os.waitpid(child, os.WNOHANG)
                        if pid:
                            break
                        if time.monotonic() > deadline:
                            os.kill(child, signal.SIGKILL)
                            os.waitpid(child, 0)
                            raise AssertionError("a forked child hangs")
                        time.sleep(0.001)
                    assert status == 0, status
            finally:
                stop.set()

        on_threads(5, fork)


def interrupts(seed, runs):
    """Ctrl-C in steps of the main thread, which wait and compute, while other threads run undisturbed steps."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    model = Model()
    rng = random.Random(seed)
    with tf.Session(graph=model.graph, config=config()) as sess:
        sess.run(model.initialize)
        with model.graph.as_default():
            endless = tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [0])
            waits = tf.FIFOQueue(1, tf.int32, []).dequeue()
            iterator = tf.data.make_initializable_iterator(
                tf.data.Dataset.from_tensors(0).repeat().filter(lambda v: v > 0))
            both = [tf.FIFOQueue(1, tf.int32, []).dequeue(), iterator.get_next()]
        stop = threading.Event()
        errors = []

        def work(i):
            own = random.Random(seed + i)
            try:
                while not stop.is_set():
                    model.check(sess, own.choice(KINDS), own)
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(runs):
            sess.run(iterator.initializer)  # a cancelled step ends its iterators
            timer = threading.Timer(rng.random() * 0.02, os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                sess.run(rng.choice([endless, waits, both]))
                raise AssertionError("an endless step ended")
            except KeyboardInterrupt:
                pass
            timer.join()
        stop.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        if errors:
            raise errors[0]


def leaving(seed, runs):
    """The process exits while threads run and wait; nothing is to be said about it."""
    del runs
    model = Model()
    sess = tf.Session(graph=model.graph, config=config())
    sess.run(model.initialize)

    def work(i):
        rng = random.Random(seed + i)
        while True:
            model.check(sess, rng.choice(KINDS), rng)

    for i in range(6):
        threading.Thread(target=work, args=(i,), daemon=True).start()
    threading.Thread(target=lambda: sess.run(model.take), daemon=True).start()
    time.sleep(random.Random(seed).random() * 0.2)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
    print("right", flush=True)
