"""The functional If, While, Case and For, which are lowered when they run, and their gradients."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.function import defun as function
from penstock._src.control_flow import functional_calls


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def run(fetches, feed=None):
    return tf.get_default_session().run(fetches, feed)


@function.Defun(tf.float64)
def Squared(x):
    return x * x


@function.Defun(tf.float64)
def Sine(x):
    return tf.sin(x) * 2.0


def test_if_and_its_gradients():
    x = tf.placeholder(tf.float64, [])
    y = functional_calls.If(x > 1.0, [x], Squared, Sine)[0]
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    np.testing.assert_allclose(run([y, first, second], {x: 3.0}), [9, 6, 2])
    np.testing.assert_allclose(run([y, first, second], {x: 0.5}),
                               [2 * np.sin(0.5), 2 * np.cos(0.5), -2 * np.sin(0.5)])


@pytest.mark.parametrize("cond,taken", [(3, True), (0, False), ("a", True), ("", False), ([], False), ([0], True)])
def test_what_counts_as_true(cond, taken):
    cond = tf.constant(cond, tf.string if isinstance(cond, str) else tf.int32)
    assert run(functional_calls.If(cond, [tf.constant(3.0, tf.float64)], Squared, Sine)[0] > 8.0) == taken


def test_while_and_its_gradients():
    @function.Defun(tf.int32, tf.float64, tf.float64)
    def Goes(i, a, x):
        return i < 3

    @function.Defun(tf.int32, tf.float64, tf.float64)
    def Body(i, a, x):
        return i + 1, a * x, x

    x = tf.placeholder(tf.float64, [])
    y = functional_calls.While([0, tf.constant(1.0, tf.float64), x], Goes, Body)[1]
    first = tf.gradients(y, x)[0]
    np.testing.assert_allclose(run([y, first, tf.gradients(first, x)[0]], {x: 1.5}), [1.5 ** 3, 3 * 1.5 ** 2, 6 * 1.5])


def test_while_with_captures_and_effects():
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    step = tf.constant(2.0)

    @function.Defun(tf.float32)
    def Goes(a):
        return a < 5.0

    @function.Defun(tf.float32)
    def Body(a):
        return a + step

    y = functional_calls.While([tf.constant(0.0)], Goes, Body)[0]
    assert run(y) == 6.0
    handle = v.handle

    @function.Defun(tf.resource, tf.float32)
    def GoesOn(handle, a):
        return a < 3.0

    @function.Defun(tf.resource, tf.float32)
    def Adds(handle, a):
        with tf.control_dependencies([tf.raw_ops.AssignAddVariableOp(resource=handle, value=a)]):
            return handle, a + 1.0

    run(tf.global_variables_initializer())
    assert run(functional_calls.While([handle, tf.constant(0.0)], GoesOn, Adds)[1]) == 3.0
    assert run(v) == 3.0


def test_case():
    x = tf.placeholder(tf.float64, [])
    index = tf.placeholder(tf.int32, [])

    @function.Defun(tf.float64)
    def Third(x):
        return tf.exp(x)

    for f in (Squared, Sine, Third):
        f.add_to_graph(tf.get_default_graph())
    y = tf.raw_ops.Case(branch_index=index, input=[x], Tout=[tf.float64], branches=[Squared, Sine, Third])[0]
    first = tf.gradients(y, x)[0]
    expected = [(4.0, 4.0), (2 * np.sin(2.0), 2 * np.cos(2.0)), (np.exp(2.0),) * 2]
    for i, branch in ((0, 0), (1, 1), (2, 2), (7, 2), (-1, 2)):
        np.testing.assert_allclose(run([y, first], {x: 2.0, index: i}), expected[branch])


def test_for():
    @function.Defun(tf.int32, tf.float32)
    def Body(i, a):
        return a + tf.cast(i, tf.float32)

    for rewrite in (False, True):
        assert run(functional_calls.For(0, 5, 1, [0.0], Body, rewrite_with_while=rewrite)[0]) == 10.0
        assert run(functional_calls.For(5, 0, -1, [0.0], Body, rewrite_with_while=rewrite)[0]) == 15.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(functional_calls.For(0, 5, -1, [0.0], Body)[0])


def test_loops_in_functions():
    @function.Defun(tf.float64)
    def Power(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a > 2.0, lambda: a * x, lambda: a + x)),
                             (0, x))[1]

    x = tf.placeholder(tf.float64, [])
    y = Power(x)
    np.testing.assert_allclose(run([y, tf.gradients(y, x)[0]], {x: 1.5}), [2 * 1.5 ** 3, 6 * 1.5 ** 2])


def test_switch_case():
    index = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float64, [])
    z = x + 1.0
    y = tf.switch_case(index, {0: lambda: x * 2.0, 1: lambda: z * z}, default=lambda: tf.constant(7.0, tf.float64))
    assert y.op.inputs[0].op.type == "Case"
    slope = tf.gradients(y, x)[0]
    for i, expected in ((0, [6, 2]), (1, [16, 8]), (2, [7, 0]), (-3, [7, 0])):
        np.testing.assert_allclose(run([y, slope], {index: i, x: 3.0}), expected)
    with pytest.raises(ValueError, match="contiguous range"):
        tf.switch_case(index, {0: lambda: x, 2: lambda: x})
    with pytest.raises(TypeError, match="have different types"):
        tf.switch_case(index, [lambda: x, lambda: tf.constant(1)])


def test_a_branch_waits_for_what_the_operation_waits_for():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @function.Defun(tf.resource)
    def Read(handle):
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 1.0

    tf.get_default_session().run(v.initializer)
    for _ in range(20):
        with tf.control_dependencies([v.assign_add(1.0)]):
            y = functional_calls.If(tf.constant(True), [v.handle], Read, Read)[0]
        before = tf.get_default_session().run(v)
        assert tf.get_default_session().run(y) == before + 1.0


def test_bodies_that_return_too_much():
    @function.Defun(tf.int32, tf.float32)
    def Goes(i, x):
        return i < 3

    @function.Defun(tf.int32, tf.float32)
    def TooMuch(i, x):
        return i + 1, x, x

    x = tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="While loop body returned 3 arguments. Expected: 2"):
        run(functional_calls.While([0, x], Goes, TooMuch)[1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="For loop body returned 3 arguments. Expected: 1"):
        run(functional_calls.For(0, 3, 1, [x], TooMuch)[0])


def test_executors_that_there_are_not():
    with pytest.raises(tf.errors.NotFoundError, match="No executor factory registered"):
        run(functional_calls.partitioned_call([tf.constant(1.0, tf.float64)], Sine, executor_type="OTHER"))
