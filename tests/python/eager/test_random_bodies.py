"""Gradients of bodies that draw at random: what was drawn on the way forward counts, it is not drawn again."""
import numpy as np
import pytest

import penstock.v1 as v1
import penstock as tf
from penstock._src.graph import context
from penstock._src.function import defun as function
from penstock._src.control_flow import functional_calls


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@tf.function
def in_a_loop(x):
    y = x
    for _ in tf.range(3):
        y = y * tf.random.normal([])
    return y


@tf.function
def in_a_branch(x):
    if x > 0.0:
        y = x * tf.random.normal([])
    else:
        y = x + 1.0
    return y


@tf.function
def in_a_branch_of_a_loop(x):
    y = x
    for i in tf.range(4):
        if i % 2 == 0:
            y = y * tf.random.normal([])
        else:
            y = y + x * tf.random.normal([])
    return y


@tf.function
def in_a_loop_of_a_branch(x):
    y = x
    if x > 0.0:
        for _ in tf.range(2):
            y = y * tf.random.normal([])
    return y


@tf.function
def in_a_call(x):
    return in_a_branch_of_a_loop(x) * tf.random.normal([])


LINEAR = [in_a_loop, in_a_branch, in_a_branch_of_a_loop, in_a_loop_of_a_branch, in_a_call]


@pytest.mark.parametrize("body", LINEAR, ids=lambda f: f.__name__)
def test_a_tape_around_a_call(body):
    x = tf.constant(2.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = body(x)
        np.testing.assert_allclose(tape.gradient(y, x), y / x, rtol=1e-5)


@pytest.mark.parametrize("body", LINEAR, ids=lambda f: f.__name__)
def test_a_tape_in_a_function(body):
    @tf.function
    def value_and_slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = body(x)
        return y, tape.gradient(y, x)

    y, slope = value_and_slope(tf.constant(2.0))
    np.testing.assert_allclose(slope, y / 2.0, rtol=1e-5)


def test_the_branch_that_is_not_taken():
    x = tf.constant(-2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = in_a_branch(x)
    assert (float(y), float(tape.gradient(y, x))) == (-1.0, 1.0)


@tf.function
def fourth_power(x):
    y = x
    for i in tf.range(3):
        n = tf.random.normal([])
        if i > 0:
            y = y * y * n
        else:
            y = y * n
    return y


def test_gradients_of_gradients():
    x = tf.constant(1.5)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = fourth_power(x)
            d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    d3 = third.gradient(d2, x)
    np.testing.assert_allclose([d1, d2, d3], [4 * y / x, 12 * y / x ** 2, 24 * y / x ** 3], rtol=1e-4)


def test_gradients_of_gradients_in_a_function():
    @tf.function
    def all_of_them(x):
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = fourth_power(x)
            d1 = first.gradient(y, x)
        return y, d1, second.gradient(d1, x)

    y, d1, d2 = all_of_them(tf.constant(2.0))
    np.testing.assert_allclose([d1, d2], [2 * y, 3 * y], rtol=1e-4)


def test_dropout_in_a_recurrence():
    weights = tf.Variable(np.eye(3, dtype=np.float32))

    @tf.function
    def recurrence(x):
        total = tf.zeros_like(x[0])
        for i in tf.range(tf.shape(x)[0]):
            total = tf.nn.dropout(tf.matmul(total + x[i], weights), 0.5)
        return total

    x = tf.ones([4, 2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = recurrence(x)
    # Each of the results is linear in x: the gradient times x is the result.
    np.testing.assert_allclose(tf.reduce_sum(tape.gradient(y, x) * x), tf.reduce_sum(y), rtol=1e-5)


def test_python_gradients_of_branches():
    @tf.custom_gradient
    def tenfold(x):
        inside = x * 1.0
        return x * 1.0, lambda dy: 10.0 * dy * inside

    @tf.function
    def body(x):
        y = x
        for _ in tf.range(2):
            if x > 0.0:
                y = tenfold(y)
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = body(x)
    assert float(tape.gradient(y, x)) == 400.0


# Functional operations, as graphs that were written elsewhere hold them.


@function.Defun(tf.float32)
def Noisy(x):
    return x * x * tf.random.normal([])


@function.Defun(tf.float32)
def Plain(x):
    return x + 1.0


@function.Defun(tf.int32, tf.float32)
def NoisyStep(i, x):
    return x * tf.random.normal([])


@function.Defun(tf.int32, tf.float32)
def GoesOn(i, x):
    return i < 3


@function.Defun(tf.int32, tf.float32)
def NoisyLoop(i, x):
    return i + 1, x * tf.random.normal([])


CALLS = {
    "If": (2, lambda x: functional_calls.If(x > 0.0, [x], Noisy, Plain)[0]),
    "Case": (2, lambda x: tf.raw_ops.Case(branch_index=0, input=[x], Tout=[tf.float32], branches=[Noisy, Plain])[0]),
    "For": (1, lambda x: functional_calls.For(6, 0, -2, [x], NoisyStep)[0]),
    "While": (1, lambda x: functional_calls.While([0, x], GoesOn, NoisyLoop)[1]),
    "StatefulPartitionedCall": (2, lambda x: tf.nest.flatten(functional_calls.partitioned_call([x], Noisy))[0]),
}


@pytest.mark.parametrize("kind", CALLS)
def test_functional_operations(kind):
    power, build = CALLS[kind]
    with v1.Graph().as_default() as graph, v1.Session() as session:
        Noisy.add_to_graph(graph)
        Plain.add_to_graph(graph)
        x = v1.placeholder(tf.float32, [])
        y = build(x)
        made_by = y.op
        assert made_by.type == kind
        slope = v1.gradients(y, x)[0]
        curvature = v1.gradients(slope, x)[0]
        assert made_by.name in (op.name for op in graph.get_operations())
        value, first = session.run([y, slope], {x: 2.0})
        np.testing.assert_allclose(first, power * value / 2.0, rtol=1e-5)
        if power == 2:
            value, second = session.run([y, curvature], {x: 2.0})
            np.testing.assert_allclose(second, value / 2.0, rtol=1e-5)


def test_a_call_that_goes_by_its_name_draws_for_itself():
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = Noisy(x)
        assert v1.gradients(y, x)[0].op.type == "SymbolicGradient"  # as version 1 has it
        assert np.isfinite(session.run(y, {x: 2.0}))


def test_remote_call():
    with v1.Graph().as_default(), v1.Session() as session:
        y = tf.raw_ops.RemoteCall(target="/job:localhost/replica:0/task:0/device:CPU:0", args=[tf.constant(2.0)],
                                  Tout=[tf.float32], f=Plain)
        assert session.run(y[0]) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.raw_ops.RemoteCall(target=["a", "b"], args=[tf.constant(2.0)], Tout=[tf.float32], f=Plain))


def test_fake_param():
    assert tf.raw_ops.FakeParam(dtype=tf.float32, shape=[None, 2]).shape.as_list() == [0, 2]
