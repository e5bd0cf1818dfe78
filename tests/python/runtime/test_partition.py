"""Graphs and loops that are cut over several CPU devices give the same results as on one."""
import random
import threading

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.v1 import raw_ops as raw

DEVICES = 4


def run(graph, fetches, feeds=None, timeout=6):
    """The fetches' values; a step that hangs is an error and not a test that never ends."""
    config = tf.ConfigProto(device_count={"CPU": DEVICES})
    with tf.Session(graph=graph, config=config) as session:
        return session.run(fetches, feeds, options=tf.RunOptions(timeout_in_ms=timeout * 1000))


def both(build, seed, devices, feeds=None):
    """The results of `build(rng, place)` with each node placed at random, and on one device."""
    results = []
    for spread in (False, True):
        rng, chance = random.Random(seed), random.Random(seed + 1)
        graph = tf.Graph()
        with graph.as_default():
            place = lambda: tf.device(f"/cpu:{chance.randrange(devices) if spread else 0}")
            fetches = build(rng, place)
        results.append(run(graph, fetches, feeds))
    for one, cut in zip(*results):
        np.testing.assert_array_equal(one, cut)
    return results[0]


def near(x, value):
    """A constant in x's frame."""
    with tf.control_dependencies([x]):
        return tf.constant(value)


def expression(rng, place, values, depth):
    """A value made of `values` by random arithmetic, with branches (Switch, Merge) and control edges here and there."""
    values = list(values)
    for _ in range(depth):
        kind = rng.randrange(6)
        x, y = rng.choice(values), rng.choice(values)
        with place():
            if kind == 0:
                z = raw.AddV2(x=x, y=y)
            elif kind == 1:
                z = raw.Maximum(x=x, y=y)
            elif kind == 2:
                z = raw.Mul(x=x, y=near(x, 0.5))
            elif kind == 3:
                z = raw.Tanh(x=x)
            elif kind == 4:
                with tf.control_dependencies([y]):
                    z = raw.Neg(x=x)
            else:
                with place():
                    predicate = raw.Less(x=raw.Sum(input=x, axis=near(x, [0, 1])),
                                         y=raw.Sum(input=y, axis=near(y, [0, 1])))
                with place():
                    low, high = raw.Switch(data=x, pred=predicate)
                with place():
                    low = raw.Neg(x=low)
                with place():
                    high = raw.Square(x=high)
                with place():
                    z, index = raw.Merge(inputs=[low, high])
                with place():
                    z = raw.AddV2(x=z, y=raw.Cast(x=index, DstT=tf.float32))
        values.append(z)
    return values


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs(seed):
    def build(rng, place):
        with place():
            start = [tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3) / 7 - 0.3),
                     tf.constant(np.ones((2, 3), np.float32))]
        return expression(rng, place, start, 12)[-3:]

    both(build, seed, 2 + seed % 3)


def loop(rng, place, frame, start, limit, body, outer=None):
    """A loop of raw ops over (i, value), each op with a place of its own; exits as [i, value]."""
    with place():
        first = raw.Enter(data=tf.constant(0) if outer is None else outer, frame_name=frame,
                          parallel_iterations=rng.choice([1, 3, 10]))
    with place():
        entered = raw.Enter(data=start, frame_name=frame)
    with place():
        bound = raw.Enter(data=limit, frame_name=frame, is_constant=True)
    with place():
        i, _ = raw.Merge(inputs=[first, first])
    with place():
        x, _ = raw.Merge(inputs=[entered, entered])
    with place():
        go_on = raw.LoopCond(input=raw.Less(x=i, y=bound))
    with place():
        i_out, i_in = raw.Switch(data=i, pred=go_on)
    with place():
        x_out, x_in = raw.Switch(data=x, pred=go_on)
    with place():
        i_in = raw.Identity(input=i_in)  # dead with its value, as a Switch itself is not
    with place():
        x_in = raw.Identity(input=x_in)
    with place(), tf.control_dependencies([i_in]):
        one = tf.constant(1)
    with place():
        next_i = raw.NextIteration(data=raw.AddV2(x=i_in, y=one))
    result = body(i_in, x_in)
    with place():
        next_x = raw.NextIteration(data=result)
    i.op._update_input(1, next_i)
    x.op._update_input(1, next_x)
    with place():
        i_end = raw.Exit(data=i_out)
    with place():
        x_end = raw.Exit(data=x_out)
    return [i_end, x_end]


@pytest.mark.parametrize("seed", range(20))
def test_random_loops(seed):
    def build(rng, place):
        def body(i, x):
            with place():
                scaled = raw.Mul(x=x, y=raw.Cast(x=i, DstT=tf.float32))
            with place():
                return raw.Tanh(x=expression(rng, place, [x, scaled], 4)[-1])

        with place():
            start = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3) / 7)
        return loop(rng, place, "loop", start, tf.constant(rng.choice([0, 1, 7])), body)

    both(build, seed, 2 + seed % 3)


@pytest.mark.parametrize("seed", range(10))
def test_nested_loops(seed):
    def build(rng, place):
        def outer_body(i, x):
            with place(), tf.control_dependencies([i]):
                zero = tf.constant(0)
            with place(), tf.control_dependencies([i]):
                three = tf.constant(3)

            def inner_body(j, y):
                with place():
                    return raw.AddV2(x=y, y=raw.Cast(x=j, DstT=tf.float32))

            return loop(rng, place, "inner", x, three, inner_body, outer=zero)[1]

        with place():
            start = tf.constant(np.ones((2, 3), np.float32))
        return loop(rng, place, "outer", start, tf.constant(4), outer_body)

    i, x = both(build, seed, 2 + seed % 3)
    assert i == 4
    np.testing.assert_array_equal(x, np.full((2, 3), 1 + 4 * 3, np.float32))


def test_an_error_on_one_device_ends_the_step():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.int32, [])
        with tf.device("/cpu:1"):
            bad = tf.floordiv(tf.constant(1), x, name="bad")
        with tf.device("/cpu:2"):
            after = bad + 1
        with tf.device("/cpu:3"):
            total = after + tf.constant(1)
    config = tf.ConfigProto(device_count={"CPU": DEVICES})
    with tf.Session(graph=graph, config=config) as session:
        for _ in range(20):
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                session.run(total, {x: 0}, options=tf.RunOptions(timeout_in_ms=20000))
            assert session.run(total, {x: 1}) == 3  # the session is as good as new


def test_many_threads_run_a_step_over_devices():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [])
        y = x
        for i in range(8):
            with tf.device(f"/cpu:{i % DEVICES}"):
                y = y + 1.0
    wrong = []
    with tf.Session(graph=graph, config=tf.ConfigProto(device_count={"CPU": DEVICES})) as session:
        def work(start):
            for i in range(20):
                if session.run(y, {x: start + i}) != start + i + 8:
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(100.0 * t,)) for t in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
            assert not t.is_alive()
    assert not wrong
