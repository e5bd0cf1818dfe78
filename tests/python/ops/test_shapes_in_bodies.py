"""What is known in a body of the values that it captures: TensorFlow 2.21 looks where a shape comes from, not what a
captured number is. So a branch that is not taken does not fail when it is traced."""
import numpy as np
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager(version_two):
    with context.eager_mode():
        yield


# Of x [None, 11, 7] and n = 11: the static shape in a body; most would fail if they ran.
OPS = {
    "pad": (lambda x, n: tf.pad(x, [[0, 0], [0, 6 - n], [0, 0]]), (None, None, 7)),
    "index": (lambda x, n: x[:, n + 3, :], (None, 7)),
    "rows": (lambda x, n: x[..., :n - 5, :], (None, None, 7)),
    "reshape": (lambda x, n: tf.reshape(x, [n - 13, 7]), (None, 7)),
    "fill": (lambda x, n: tf.fill([n - 13], 1.0), (None,)),
    "zeros": (lambda x, n: tf.zeros([n, 2]), (None, 2)),
    "slice": (lambda x, n: tf.slice(x, [0, n, 0], [1, 3, 1]), (1, 3, 1)),
    "linspace": (lambda x, n: tf.linspace(0.0, 1.0, n - 12), (None,)),
    "split": (lambda x, n: tf.split(x, [n, 3], 1)[0], (None, None, 7)),
    "split along": (lambda x, n: tf.split(x, 2, axis=n)[0], (None, None, None)),
    "range": (lambda x, n: tf.range(n, 0, n), (None,)),
    "concat": (lambda x, n: tf.concat([x, x], n), (None, None, None)),
    "tile": (lambda x, n: tf.tile(x, [1, n - 13, 1]), (None, None, 7)),
    "transpose": (lambda x, n: tf.transpose(x, [n, 0, 1]), (None, None, None)),
    "one_hot": (lambda x, n: tf.one_hot([1, 2], n - 12), (2, None)),
    "top_k": (lambda x, n: tf.nn.top_k(x, n)[0], (None, 11, None)),
    "reverse": (lambda x, n: tf.reverse(x, [n]), (None, 11, 7)),
    "sum": (lambda x, n: tf.reduce_sum(x, n), None),
    "resize": (lambda x, n: tf.image.resize(x[..., None], [n - 12, 3]), (None, None, 3, 1)),
    "broadcast_to": (lambda x, n: tf.broadcast_to(x, [2, n + 1, 7]), (2, 11, 7)),
    "matmul": (lambda x, n: tf.matmul(tf.zeros([2, n]), tf.zeros([3, 3])), (2, 3)),
    "what does not fit": (lambda x, n: tf.reshape(x, [n, -1]) + tf.zeros([3, 3]), (3, 3)),
}
NUMBERS = {"shape": lambda x: tf.shape(x)[-2], "constant": lambda x: tf.constant(11)}


def go(kind, n, body):
    if kind == "cond":
        return tf.cond(tf.less_equal(6, n), lambda: 5.0, body)
    if kind == "case":
        return tf.switch_case(tf.cast(n < 20, tf.int32), [body, lambda: 5.0])
    if kind == "loop":
        return tf.while_loop(lambda i, _: i < n - 12, lambda i, a: (i + 1, a + body()), [0, 5.0])[1]
    if kind == "call in a loop":
        return go("loop", n, tf.function(body))
    if kind == "loop in a loop":
        return tf.while_loop(lambda i, _: i < 1, lambda i, a: (i + 1, a + go("loop", n, body) - 5.0), [0, 5.0])[1]
    if kind == "cond in a loop":
        return tf.while_loop(lambda i, _: i < 1, lambda i, a: (i + 1, a + go("cond", n, body) - 5.0), [0, 5.0])[1]
    if kind == "loop in a cond":
        return tf.cond(n > 6, lambda: go("loop", n, body), lambda: go("loop", n, body))
    if kind == "map":
        return 5.0 + tf.reduce_sum(tf.map_fn(lambda _: body(), tf.zeros([tf.maximum(n - 12, 0)])))
    return tf.cond(tf.less_equal(6, n), lambda: 5.0, lambda: tf.function(body)())


KINDS = ["cond", "case", "loop", "function", "call in a loop", "loop in a loop", "cond in a loop", "loop in a cond",
         "map"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op, expected", OPS.values(), ids=OPS)
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_body_that_does_not_run_does_not_fail(kind, op, expected, number):
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, 11, 7])])
    def f(x):
        n = number(x)

        def body():
            made = op(x, n)
            shapes.append(made.shape)
            return tf.reduce_sum(tf.cast(made, tf.float32))
        return go(kind, n, body)

    assert f(tf.ones([5, 11, 7])).numpy() == 5.0
    assert shapes[0].rank is None if expected is None else tuple(shapes[0].as_list()) == expected


def test_the_branch_of_a_session_that_is_not_taken():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.enable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [None, 11, 7])
            n = tf.shape(x)[-2]
            y = v1.cond(tf.less_equal(6, n), lambda: x[..., :6, :], lambda: tf.pad(x, [[0, 0], [0, 6 - n], [0, 0]]))
            assert session.run(y, {x: np.ones([2, 11, 7])}).shape == (2, 6, 7)
        finally:
            v1.disable_control_flow_v2()


# Of the vector s = [?, 4] outside.
SHAPES = {
    "reshape": (lambda s: tf.reshape(tf.range(12), s), (None, 4)),
    "fill": (lambda s: tf.fill(s, 1.0), (None, 4)),
    "zeros": (lambda s: tf.zeros(s), (None, 4)),
    "concat": (lambda s: tf.zeros(tf.concat([s, [2]], 0)), (None, 4, 2)),
    "slice": (lambda s: tf.ones(s[1:]), (4,)),
    "cast": (lambda s: tf.zeros(tf.cast(s, tf.int64)), (None, 4)),
    "stack": (lambda s: tf.zeros([s[0], s[1]]), (None, None)),
    "product": (lambda s: tf.zeros(s * 2), (None, None)),
    "uniform": (lambda s: tf.random.uniform(s), (None, 4)),
    "normal": (lambda s: tf.random.normal(s), (None, 4)),
    "truncated": (lambda s: tf.random.truncated_normal(s), (None, 4)),
    "gamma": (lambda s: tf.random.gamma(s, [1.0, 2.0]), (None, 4, 2)),
    "poisson": (lambda s: tf.random.poisson(s, [1.0, 2.0]), (None, 4, 2)),
    "stateless": (lambda s: tf.random.stateless_normal(s, [1, 2]), (None, 4)),
    "binomial": (lambda s: tf.random.stateless_binomial(s, [1, 2], 1.0, 0.5), (None, 4)),
    "broadcast_to": (lambda s: tf.broadcast_to(1.0, s), (None, None)),
    "in a body again": (lambda s: tf.cond(s[0] > 1, lambda: tf.zeros(s), lambda: tf.zeros(s)), (None, 4)),
}


@pytest.mark.parametrize("make, expected", SHAPES.values(), ids=SHAPES)
def test_a_shape_is_known_where_it_is_captured(make, expected):
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        s = tf.concat([tf.shape(x), [4]], 0)

        def body():
            shapes.append(make(s).shape)
            return 1

        tf.cond(s[0] > 1, body, lambda: 1)
        tf.while_loop(lambda i: i < 1, lambda i: i + body(), [0])
        tf.function(body)()
        return x

    f(tf.ones([3]))
    assert [tuple(shape.as_list()) for shape in shapes] == [expected] * 3


def test_a_call_with_an_argument_that_does_not_fit():
    @tf.function
    def padded(x, n):
        return tf.pad(x, [[0, 3 - n]])

    @tf.function(input_signature=[tf.TensorSpec([3])])
    def f(x):
        n = tf.constant(5)
        with pytest.raises(ValueError, match="Paddings must be non-negative"):
            padded(x, n)
        return tf.cond(x[0] > 1.0, lambda: padded(x, n), lambda: x)

    np.testing.assert_array_equal(f(tf.ones([3])), [1, 1, 1])


@pytest.mark.parametrize("build, names", [
    (lambda x: tf.reshape(x, [-1, 3]), ["x", "Reshape/shape", "Reshape", "Identity"]),
    (lambda x: tf.random.poisson([2], 2.0),
     ["x", "random_poisson/shape", "random_poisson/RandomPoissonV2/rate", "random_poisson/RandomPoissonV2",
      "Identity"]),
], ids=["reshape", "poisson"])
def test_a_shape_of_numbers_becomes_one_constant(version_two, build, names):
    graph = tf.function(build).get_concrete_function(tf.TensorSpec(None)).graph
    assert [op.name for op in graph.get_operations()] == names


# Static shapes in bodies that Switch and Enter lead to, of n = constant(11), as 1.15.5 has them: in a branch that
# always runs, a loop, a loop in a branch, and a loop in a loop.
VERSION_ONE = {
    "reshape": (lambda x, n: tf.reshape(x, [n - 4, -1]), (7, None), (None, None), (None, None), (None, None)),
    "rows": (lambda x, n: x[..., :n - 5, :], (None, 6, 7), (None, None, 7), (None, None, 7), (None, None, 7)),
    "fill": (lambda x, n: tf.fill([n - 3], 1.0), (8,), (None,), (None,), (None,)),
    "zeros": (lambda x, n: tf.zeros([n, 2]), (11, 2), (11, 2), (11, 2), (None, 2)),
    "stack": (lambda x, n: tf.ones(tf.stack([n, 3])), (11, 3), (11, 3), (11, 3), (None, 3)),
    "concat": (lambda x, n: tf.concat([x, x], n - 10), (None, 22, 7), (None, None, None), (None, None, None),
               (None, None, None)),
    "sum": (lambda x, n: tf.reduce_sum(x, n - 10), (None, 7), None, None, None),
}


@pytest.mark.parametrize("op, cond, loop, loop_in_cond, loop_in_loop", VERSION_ONE.values(), ids=VERSION_ONE)
def test_shapes_in_bodies_of_version_one(op, cond, loop, loop_in_cond, loop_in_loop):
    def found(build):
        shapes = []
        v1.disable_control_flow_v2()
        with tf.Graph().as_default():
            x, n = v1.placeholder(tf.float32, [None, 11, 7]), tf.constant(11)

            def body():
                made = op(x, n)
                shapes.append(made.shape)
                return tf.reduce_sum(made)

            def repeat(body):
                return tf.while_loop(lambda i, _: i < n - 10, lambda i, a: (i + 1, a + body()), [0, 5.0])[1]

            build(n, body, repeat)
        return None if shapes[0].rank is None else tuple(shapes[0].as_list())

    assert found(lambda n, body, repeat: v1.cond(tf.less_equal(6, n), body, lambda: 5.0)) == cond
    assert found(lambda n, body, repeat: repeat(body)) == loop
    assert found(lambda n, body, repeat: v1.cond(n > 6, lambda: repeat(body), lambda: 5.0)) == loop_in_cond
    assert found(lambda n, body, repeat: repeat(lambda: repeat(body))) == loop_in_loop
