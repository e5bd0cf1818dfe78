"""Reductions of rows and the functions around them as one node give, bit by bit, what the ops give one by one."""

import random

import numpy as np
import pytest

import penstock.v1 as tf

UNARY = (tf.tanh, tf.exp, tf.square, tf.negative, tf.abs, tf.nn.relu, tf.sigmoid)
BINARY = (tf.add, tf.subtract, tf.multiply, tf.maximum, tf.squared_difference)
REDUCE = (tf.reduce_mean, tf.reduce_sum, tf.reduce_max, tf.reduce_min)


def _run(fetches, feeds, fused):
    config = tf.ConfigProto()
    if not fused:
        config.graph_options.rewrite_options.remapping = 2
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session(config=config) as session:
        values = session.run(fetches, feeds, options, metadata)
    return values, {node.op for graph in metadata.partition_graphs for node in graph.node}


def _same(fetches, feeds):
    (ours, ops), (wanted, others) = _run(fetches, feeds, True), _run(fetches, feeds, False)
    assert "_FusedRows" in ops and "_FusedRows" not in others
    for a, b in zip(ours, wanted):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_random_programs(seed, known, dtype):
    chance, numbers = random.Random(seed), np.random.RandomState(seed)
    shape = chance.choice(([3, 700], [90, 33], [2, 5, 300], [1, 7], [200, 2], [2, 8192], [4, 1, 6], [0, 4]))
    stretched = [[], shape[-1:], shape[:-1] + [1], [1] * len(shape), shape[1:-1] + [1], shape[1:]]
    with tf.Graph().as_default():
        def place(dims):  # the number of rows may be unknown
            x = tf.placeholder(dtype, dims if known else [None, *dims[1:]] if len(dims) == len(shape) else dims)
            feeds[x] = numbers.uniform(-2, 2, dims).astype(dtype)
            return x

        feeds = {}
        rows, args = [place(shape) for _ in range(2)], [place(s) for s in stretched]
        rows.append(rows[0] - tf.reduce_mean(rows[0], -1, keepdims=True))
        narrow = []
        for _ in range(chance.randint(8, 50)):
            x, kind = chance.choice(rows[-4:]), chance.random()
            if kind < 0.25:
                narrow.append(chance.choice(REDUCE)(x, -1, keepdims=True))
            elif kind < 0.4 and narrow:
                narrow.append(chance.choice(BINARY)(chance.choice(narrow), chance.choice([args[0], *narrow])))
            elif kind < 0.6:
                rows.append(chance.choice(UNARY)(x))
            else:
                y = chance.choice(rows + args + narrow)
                rows.append(chance.choice(BINARY)(*((x, y) if chance.random() < 0.5 else (y, x))))
        fetches = [rows[-1], rows[2], *chance.sample(rows, 2), *narrow[-2:]]
        with np.errstate(all="ignore"):
            _same(fetches, feeds)


def _layer_norm(x, gain, bias):
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-5) * gain + bias


def test_a_layer_norm_and_its_gradients():
    with tf.Graph().as_default():
        x, gain, bias = (tf.placeholder(tf.float64, s) for s in ([30, 40], [40], [40]))
        y = _layer_norm(x, gain, bias)
        numbers = np.random.RandomState(0)
        feeds = {x: numbers.randn(30, 40), gain: numbers.randn(40), bias: numbers.randn(40)}
        _same([y, *tf.gradients(tf.square(y), [x, gain, bias])], feeds)
        a, g, b = feeds.values()
        wanted = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * g + b
        np.testing.assert_allclose(_run(y, feeds, True)[0], wanted, rtol=1e-12, atol=1e-12)


def test_shapes_that_turn_out_to_differ():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 5])
        z = tf.exp(x - tf.reduce_max(x, -1, keepdims=True)) * y
        for a, b in ((2, 2), (1, 4), (3, 1), (0, 1)):
            _same([z, z + 1.0], {x: np.ones([a, 5]), y: np.full([b, 5], 0.5)})
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="shapes") as failed:
            session.run(z, {x: np.ones((2, 5)), y: np.ones((3, 5))})
        assert failed.value.op.name == "mul"


def test_values_that_are_not_numbers():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
        y /= tf.reduce_sum(y, -1, keepdims=True)
        inf, nan = np.inf, np.nan
        with np.errstate(all="ignore"):
            _same([y], {x: [[nan, 1, 2], [inf, 1, 2], [-inf, 0, 1], [-inf, -inf, -inf], [-0.0, 0.0, -0.0]]})


def test_an_input_that_is_read_again_is_not_overwritten():
    with tf.Graph().as_default():
        v = tf.Variable(np.arange(12.0, dtype="f").reshape(3, 4), use_resource=True)
        x = tf.identity(v.read_value()) * 2.0
        y = x - tf.reduce_mean(x, -1, keepdims=True)
        z = tf.matmul(x, y, transpose_b=True)
        with tf.Session() as session:
            session.run(v.initializer)
            for _ in range(2):
                centered, _ = session.run([y, z])
                np.testing.assert_array_equal(centered, np.tile([[-3.0, -1.0, 1.0, 3.0]], (3, 1)))
                np.testing.assert_array_equal(session.run(v)[0], [0, 1, 2, 3])
