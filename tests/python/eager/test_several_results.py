"""Ops with several results, called eagerly: lists, namedtuples, their gradients and errors."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def test_a_list_has_as_many_parts_as_were_asked_for():
    for count in (1, 2, 4, 2):
        parts = tf.split(X, count, axis=1)
        assert type(parts) is list and len(parts) == count
        for part, expected in zip(parts, np.split(X, count, axis=1)):
            np.testing.assert_array_equal(part, expected)
    assert [p.numpy().tolist() for p in tf.unstack(tf.constant(X), axis=1)] == X.T.tolist()
    assert len(tf.split(tf.range(40), 40)) == 40
    parts = tf.dynamic_partition(X, [1, 0, 1], 3)
    assert [p.shape.as_list() for p in parts] == [[1, 4], [2, 4], [0, 4]]


def test_several_outputs_have_names():
    best = tf.nn.top_k(X, 2)
    assert type(best).__name__ == "TopKV2"
    np.testing.assert_array_equal(best.values, [[3, 2], [7, 6], [11, 10]])
    np.testing.assert_array_equal(best.indices, [[3, 2]] * 3)
    values, places = tf.raw_ops.Unique(x=[4, 4, 2], out_idx=tf.int64)
    assert values.numpy().tolist() == [4, 2] and places.dtype == tf.int64


def test_a_variable_is_read_and_its_gradient_comes_through_each_result():
    v = tf.Variable(X)
    with tf.GradientTape() as tape:
        left, right = tf.split(v, 2, axis=1)
        y = tf.reduce_sum(left * 2.) + tf.reduce_sum(tf.nn.top_k(v, 1).values) + 0. * tf.reduce_sum(right)
    expected = np.zeros_like(X)
    expected[:, :2] = 2
    expected[:, 3] = 1
    np.testing.assert_array_equal(tape.gradient(y, v), expected)


def test_a_gradient_written_in_python_is_used():
    @tf.RegisterGradient("TwiceSplit")
    def twice(op, *dys):
        return None, 2. * tf.concat(dys, 1)

    x = tf.constant(X)
    with tf.Graph().as_default() as graph, graph.gradient_override_map({"Split": "TwiceSplit"}):
        y = tf.split(tf.ones([2, 2]), 2, axis=1)
        assert tf.compat.v1.gradients(y, y[0].op.inputs[1])[0].op.type == "Mul"
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.split(x, 2, axis=1)
    np.testing.assert_array_equal(tape.gradient(y, x), np.ones_like(X))


def test_faults_are_told_as_from_a_graph():
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)split"):
        tf.split(X, 3, axis=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="k"):
        tf.nn.top_k(X, 5)
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        tf.split(object(), 2)
