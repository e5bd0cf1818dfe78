"""Gradients of calls of functions that nobody holds any more, of bodies with control dependencies, and by what lies
around a body; the values are TensorFlow 2.21's."""
import gc

import numpy as np
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def cube(x):
    return tf.function(lambda v: v * v * v)(x)


def case(x, branch):
    return tf.switch_case(tf.cast(x > 5.0, tf.int32), [branch, lambda: x])


def loop(x, body):
    return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, body(a)), [0, x])[1]


DROPPED = {
    "case": (lambda x: case(x, lambda: cube(x)), 27, 18),
    "case in a case": (lambda x: case(x, lambda: case(x, lambda: cube(x))), 27, 18),
    "cond in a case": (lambda x: case(x, lambda: tf.cond(x > 0.0, lambda: cube(x), lambda: x)), 27, 18),
    "case in a function": (lambda x: tf.function(lambda v: case(v, lambda: cube(v) * v))(x), 108, 108),
    "loop": (lambda x: loop(x, cube), 59049, 157464),
    "case in a loop": (lambda x: loop(x, lambda a: case(0.0 * a, lambda: cube(a))), 59049, 157464),
}


@pytest.mark.parametrize("build, first, second", DROPPED.values(), ids=DROPPED)
def test_a_graph_owns_the_gradients_of_what_it_calls(build, first, second):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.enable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [])
            y = build(x)
            gc.collect()
            gradient, = v1.gradients(y, x)
            gc.collect()
            again, = v1.gradients(gradient, x)
            assert session.run([gradient, again], {x: 3.0}) == [first, second]
        finally:
            v1.disable_control_flow_v2()


def test_an_imported_call_has_the_gradient_of_its_own_function():
    with tf.Graph().as_default() as graph:
        tf.identity(cube(v1.placeholder(tf.float32, [], name="x")), name="y")
    call, = (op for op in graph.get_operations() if op.type == "PartitionedCall")
    written = graph.as_graph_def()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        other = tf.function(lambda v: v * 5.0)(x)
        # Of another process, in which the name is that of another function.
        name = other.op.get_attr("_gradient_op_type")
        next(n for n in written.node if n.name == call.name).attr["_gradient_op_type"].s = name
        y, = tf.import_graph_def(written, {"x:0": x}, ["y:0"])
        assert session.run(v1.gradients(y, x), {x: 3.0}) == [27.0]


BEHIND = {
    "concat": (lambda x: tf.concat([x, x], 1), [[2, 2, 2], [2, 2, 2]]),
    "rows": (lambda x: x[1:], [[0, 0, 0], [1, 1, 1]]),
    "gather": (lambda x: tf.gather(x, [0, 1, 1]), [[1, 1, 1], [2, 2, 2]]),
    "pad": (lambda x: tf.pad(x, [[1, 1], [0, 0]]), [[1, 1, 1], [1, 1, 1]]),
    "split": (lambda x: tf.split(x, 3, 1)[1], [[0, 1, 0], [0, 1, 0]]),
    "maximum": (lambda x: tf.reduce_max(x, 1), [[0, 0, 1], [0, 0, 1]]),
}


@pytest.mark.parametrize("function, expected", BEHIND.values(), ids=BEHIND)
def test_constants_under_control_dependencies(function, expected):
    @tf.function
    def f(x):
        with tf.control_dependencies([tf.abs(x)]):
            return function(x)

    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(y, x)), expected)


def test_constants_behind_the_checks_of_ragged_tensors():
    @tf.function
    def f(x):
        rows = tf.RaggedTensor.from_tensor(x)
        return tf.concat([rows, rows], 1).values

    x = tf.ones([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.full([2, 3], 2))
