"""Chains of elementwise ops as one node give, bit by bit, what the ops give one by one."""

import random

import numpy as np
import pytest

import penstock.v1 as tf

UNARY = (tf.tanh, tf.sigmoid, tf.exp, tf.square, tf.negative, tf.abs, tf.nn.relu, tf.nn.softplus, tf.sqrt, tf.floor)
COMPARISONS = (tf.less, tf.less_equal, tf.greater, tf.greater_equal, tf.equal, tf.not_equal)
BINARY = (tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.divide, tf.squared_difference)


def _config(fused):
    config = tf.ConfigProto()
    if not fused:
        config.graph_options.rewrite_options.remapping = 2
    return config


def _run(fetches, feeds, fused):
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session(config=_config(fused)) as session:
        values = session.run(fetches, feeds, options, metadata)
    ops = {node.op for graph in metadata.partition_graphs for node in graph.node}
    assert ("_FusedElementwise" in ops) == fused
    return values


def _same(fetches, feeds):
    for ours, wanted in zip(_run(fetches, feeds, True), _run(fetches, feeds, False)):
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_random_chains(seed, known, dtype):
    chance, random_numbers = random.Random(seed), np.random.RandomState(seed)
    shape = chance.choice(([7], [3, 700], [40, 33], [2, 5, 300], [3, 70, 4], [1, 1], [0, 4], [5, 1, 6], []))
    stretched = [shape, shape, []]
    if len(shape) > 1:
        stretched += [
            shape[-1:],
            shape[:-1] + [1],
            [1] * len(shape),
            [1] + shape[1:-1] + [1],
            shape[:1] + [1] * len(shape[1:]),
            shape[:1] + [1] * len(shape[1:-1]) + shape[-1:],
        ]
    with tf.Graph().as_default():
        feeds, values, args = {}, [], []
        for one in stretched:
            x = tf.placeholder(dtype, one if known else None)
            feeds[x] = random_numbers.uniform(-2, 2, one).astype(dtype)
            (values if one is shape else args).append(x)
        for _ in range(chance.randint(5, 50)):
            x = chance.choice(values[-6:])
            kind = chance.random()
            if kind < 0.35:
                values.append(chance.choice(UNARY)(x))
            elif kind < 0.5:
                a, b, other = (chance.choice(args + values[-6:]) for _ in range(3))
                values.append(tf.where_v2(chance.choice(COMPARISONS)(a, b), *chance.sample((x, other), 2)))
            else:
                y = chance.choice(values + args)
                values.append(chance.choice(BINARY)(*((x, y) if chance.random() < 0.5 else (y, x))))
        fetches = [values[-1], *chance.sample(values[2:], 3)]
        with np.errstate(all="ignore"):
            _same(fetches, feeds)


def test_gradients_of_a_gelu():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [30, 50])
        y = 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
        _same([y, tf.gradients(y, x)[0]], {x: np.random.RandomState(0).randn(30, 50)})


def test_a_loop_and_its_gradient():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4, 100])

        def body(i, c, h):
            a, b = tf.split(h, 2, 1)
            c = c * tf.sigmoid(a + 1.0) + tf.sigmoid(b) * tf.tanh(b)
            return i + 1, c, tf.concat([tf.tanh(c) * tf.sigmoid(a), c], 1)

        _, c, h = tf.while_loop(lambda i, c, h: i < 4, body, [0, x[:, :50], x])
        _same([c, h, tf.gradients(tf.reduce_sum(h), x)[0]], {x: np.random.RandomState(0).randn(4, 100)})


def test_branches_and_invariants_of_loops_stay_apart():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        e = tf.exp(x)
        branch = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(x * e) + e, lambda: -tf.sqrt(e) * x)
        loop = tf.while_loop(
            lambda v: tf.reduce_sum(tf.abs(v * e) * 0.5) < 100.0, lambda v: tf.abs(v * e) + tf.abs(v * e) * 0.5, [x]
        )
        for numbers in ([1.0, 2.0, 3.0], [-1.5, 0.5, 0.75]):
            _same([e, branch, loop], {x: numbers})


def test_shapes_that_turn_out_to_differ():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
        z = tf.tanh(tf.exp(x) + y) * y
        for a, b in (((2, 3), (2, 3)), ((1, 3), (4, 3)), ((2, 1), (1, 3)), ((2, 3), (1, 1)), ((0, 3), (1, 3))):
            _same([z, z + 1.0], {x: np.ones(a), y: np.full(b, 0.5)})
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes") as failed,
        ):
            session.run(z, {x: np.ones((2, 3)), y: np.ones((2, 4))})
        assert failed.value.op.name == "add"


def test_an_input_that_is_read_again_is_not_overwritten():
    with tf.Graph().as_default():
        v = tf.Variable(np.ones(100, "f"), use_resource=True)
        x = tf.identity(v.read_value()) * 2.0
        y = tf.reduce_sum(x)
        z = tf.square(x) + x
        with tf.Session() as session:
            session.run(v.initializer)
            for _ in range(2):
                total, values = session.run([y, z])
                assert total == 200
                np.testing.assert_array_equal(values, np.full(100, 6.0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_choice_by_a_comparison(compare, dtype):
    nan, inf = np.nan, np.inf
    a = np.array([[1, nan, 0, inf, 2], [2, 1, -0.0, -inf, nan]], dtype)
    b = np.array([[1, 1, -0.0, inf, 1], [3, nan, 0, inf, nan]], dtype)
    for x, y, t, e in ((a, b, a, b), (a, dtype_of(0, a), b, dtype_of(7, a)), (a[:1], b[:, :1], a, b[1]),
                       (dtype_of(1, a), dtype_of(2, a), a, b)):
        for known in (True, False):
            with tf.Graph().as_default():
                args = [tf.placeholder(dtype, np.shape(value) if known else None) for value in (x, y, t, e)]
                chosen = tf.where_v2(compare(args[0], args[1]), args[2], args[3])
                options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
                with tf.Session() as session:
                    got = session.run(chosen, dict(zip(args, (x, y, t, e))), options, metadata)
            assert any(n.op.startswith("_Select") for g in metadata.partition_graphs for n in g.node)
            by_numpy = {"less": np.less, "less_equal": np.less_equal, "greater": np.greater, "equal": np.equal,
                        "greater_equal": np.greater_equal, "not_equal": np.not_equal}[compare.__name__]
            np.testing.assert_array_equal(got, np.where(by_numpy(x, y), t, e))


def dtype_of(value, like):
    return np.asarray(value, like.dtype)
