"""The fixed cost of session.run."""

import numpy as np

from harness import Case, bench


def session_case(tf, build, **case):
    """`build()` makes the graph and returns `ready(sess)`, which returns the call to time."""
    graph = tf.Graph()
    with graph.as_default():
        ready = build()
        sess = tf.Session(graph=graph)
        call = ready(sess)
    return Case(call, check=lambda: fresh(call), close=sess.close, **case)


def fresh(call):
    """The sum of a result; fails where a later result shows what was written into an earlier one."""
    first = call()
    expected = np.array(first)
    for array in first if isinstance(first, list) else [first]:
        if isinstance(array, np.ndarray):
            array[...] = -1
    second = np.array(call())
    if not np.array_equal(expected, second):
        raise AssertionError("a fetched array is not fresh")
    return np.sum(expected)


@bench("session/feed_add_fetch", "v1")
def feed_add_fetch(tf):
    def build():
        x = tf.placeholder(tf.float32, [2])
        y, value = x + 1, np.ones(2, np.float32)
        return lambda sess: lambda: sess.run(y, {x: value})
    return session_case(tf, build)


@bench("session/feed_add_fetch_callable", "v1")
def feed_add_fetch_callable(tf):
    def build():
        x = tf.placeholder(tf.float32, [2])
        y, value = x + 1, np.ones(2, np.float32)

        def ready(sess):
            f = sess.make_callable(y, [x])
            return lambda: f(value)
        return ready
    return session_case(tf, build)


@bench("session/fetch_constant", "v1")
def fetch_constant(tf):
    def build():
        y = tf.constant([1.0, 2.0])
        return lambda sess: lambda: sess.run(y)
    return session_case(tf, build)


@bench("session/fetch_20", "v1")
def fetch_20(tf):
    def build():
        x, value = tf.placeholder(tf.float32, [2]), np.ones(2, np.float32)
        ys = [x + float(i) for i in range(20)]
        return lambda sess: lambda: sess.run(ys, {x: value})
    return session_case(tf, build)


@bench("session/feed_1mb", "v1")
def feed_1mb(tf):
    def build():
        x, value = tf.placeholder(tf.float32, [1 << 18]), np.ones(1 << 18, np.float32)
        y = x[:2]
        return lambda sess: lambda: sess.run(y, {x: value})
    return session_case(tf, build)


@bench("session/fetch_1mb", "v1")
def fetch_1mb(tf):
    def build():
        x, value = tf.placeholder(tf.float32, []), np.float32(1)
        y = tf.fill([1 << 18], x)
        return lambda sess: lambda: sess.run(y, {x: value})
    return session_case(tf, build)


@bench("session/assign_add", "v1")
def assign_add(tf):
    def build():
        v = tf.Variable(0.0)
        step = tf.assign_add(v, 1.0).op

        def ready(sess):
            sess.run(v.initializer)
            return lambda: sess.run(step)
        return ready
    case = session_case(tf, build)
    case.check = None
    return case
