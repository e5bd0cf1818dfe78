"""Gradients of calls of functions that nobody holds any more, of bodies with control dependencies, and by what lies
around a body; the values are TensorFlow 2.21's."""
import gc

import numpy as np
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock._src.graph import context


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


# x = 3, y = x * x, a = 1; the gradients of a tape around the body, of one inside of it.
AROUND = {
    "y by x": (lambda x, y, a: (y, [x]), [6], [None]),
    "y by a": (lambda x, y, a: (y, [a]), [None], [None]),
    "y by x, a": (lambda x, y, a: (y, [x, a]), [6, None], [None, None]),
    "y by y": (lambda x, y, a: (y, [y]), [1], [1]),
    "x by x": (lambda x, y, a: (x, [x]), [1], [1]),
    "a by x": (lambda x, y, a: (a, [x]), [None], [None]),
    "y a by all": (lambda x, y, a: (y * a, [x, y, a]), [6, 1, None], [None, None, 9]),
    "y x by x, y": (lambda x, y, a: (y * x, [x, y]), [27, 3], [9, None]),
    "sin(y) a and y": (lambda x, y, a: ([tf.sin(y) * a, y], [x, y]), [0.533218, 0.0888697], [None, 1]),
}


def go(kind, x, a, inside):
    if kind == "loop":
        return tf.while_loop(lambda i, _: i < 1, lambda i, a: (i + 1, inside(a)), [0, a])[1]
    if kind == "branch":
        return tf.cond(x > 0.0, lambda: inside(a), lambda: a)
    return tf.function(lambda: inside(a))()


@pytest.mark.parametrize("kind", ["loop", "branch", "function"])
@pytest.mark.parametrize("what, outer, inner", AROUND.values(), ids=AROUND)
def test_the_tape_of_a_body_and_the_tape_around_it(kind, what, outer, inner):
    found = []

    @tf.function
    def f(x, whole):
        with tf.GradientTape(persistent=True) as around:
            around.watch(x)
            y = x * x

            def inside(a):
                with tf.GradientTape(persistent=True) as tape:
                    tape.watch([x, a])
                    target, sources = what(x, y, a)
                gradients = (around if whole else tape).gradient(target, sources)
                found.append([g is not None for g in gradients])
                return a + sum((g * 100.0**i for i, g in enumerate(gradients) if g is not None), 0.0)

            return go(kind, x, tf.identity(1.0), inside)

    for whole, expected in ((True, outer), (False, inner)):
        del found[:]
        value = f(tf.constant(3.0), whole)
        assert found[0] == [g is not None for g in expected]
        np.testing.assert_allclose(value, 1 + sum(g * 100.0**i for i, g in enumerate(expected) if g), rtol=1e-5)


# The same by tf.gradients in a function of a graph, where z = y * x.
IN_A_GRAPH = {
    "y": (lambda x, y, z, a: (y, [x, a]), {}, [6, None]),
    "zero": (lambda x, y, z, a: (y, [x, a]), {"unconnected_gradients": "zero"}, [6, 0]),
    "z": (lambda x, y, z, a: (z, [x, y, z, a]), {}, [27, 3, 1, None]),
    "y a": (lambda x, y, z, a: (y * a, [x, y, a]), {}, [6, 1, 9]),
    "z a y": (lambda x, y, z, a: (z * a * y, [x, y, z, a]), {}, [405, 54, 9, 243]),
    "z and y a": (lambda x, y, z, a: ([z, y * a], [x, y, z, a]), {}, [33, 4, 1, 9]),
}


@pytest.mark.parametrize("what, options, expected", IN_A_GRAPH.values(), ids=IN_A_GRAPH)
def test_gradients_by_what_lies_around_a_function(what, options, expected):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = x * x
        z = y * x
        found = []

        @tf.function
        def f(a):
            ys, xs = what(x, y, z, a)
            found.extend(v1.gradients(ys, xs, **options))
            return [g for g in found if g is not None]

        values = session.run(f(tf.constant(1.0)), {x: 3.0})
        assert [g is not None for g in found] == [g is not None for g in expected]
        np.testing.assert_allclose(values, [g for g in expected if g is not None])


def test_what_flows_in_and_what_stops_lie_on_both_sides_of_a_body():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = x * x
        z = y * x

        @tf.function
        def f(a):
            return v1.gradients(z, [x, y, z], grad_ys=a * 2.0), v1.gradients(z * a, [x, y, z], stop_gradients=[y])

        assert session.run(f(tf.constant(1.0)), {x: 3.0}) == ([54, 6, 2], [9, 3, 1])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_an_operation_without_gradient_behind_stop_gradient(wrap):
    def colour(x):
        return tf.raw_ops.HSVToRGB(images=tf.reshape(tf.stack([x, x, x]), [1, 3]))[0, 0]

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * colour(tf.stop_gradient(x)) + x * tf.stop_gradient(colour(colour(x))) + x * colour(tf.constant(0.3))
        return tape.gradient(y, x)

    np.testing.assert_allclose(wrap(f)(tf.constant(0.5)), 0.25 + 0.21875 + 0.228, rtol=1e-6)
