"""Callables made of a CallableOptions message."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock.proto import config_pb2


@pytest.fixture
def session():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        z = tf.placeholder(tf.float32, name="z")
        count = tf.Variable(0.0)
        tf.assign_add(count, 1.0, name="count")
        tf.add(x, 1.0, name="y")
        tf.add(tf.multiply(z, x, name="product"), 1.0, name="behind")
        with tf.control_dependencies([z]):
            tf.identity(x, name="after_z")
        with tf.Session() as sess:
            sess.run(count.initializer)
            yield sess


def make(session, feed, fetch, *connections):
    options = config_pb2.CallableOptions(feed=feed, fetch=fetch)
    for from_tensor, to_tensor in connections:
        options.tensor_connection.add(from_tensor=from_tensor, to_tensor=to_tensor)
    return session._make_callable_from_options(options)


def test_connected_tensors_are_read_in_a_placeholders_place(session):
    run = make(session, ["x:0"], ["product:0", "after_z:0"], ("count:0", "z:0"))
    for step in (1.0, 2.0):  # the connected operation runs in each step
        product, after = run(np.float32([3.0, 4.0]))
        np.testing.assert_array_equal(product, [3.0 * step, 4.0 * step])
        np.testing.assert_array_equal(after, [3.0, 4.0])
    metadata = config_pb2.RunMetadata()
    values = make(session, ["x:0"], ["product:0", "z:0"], ("y:0", "z:0"))(np.float32([1.0, 2.0]), run_metadata=metadata)
    np.testing.assert_array_equal(values, [[2.0, 6.0], [2.0, 3.0]])
    unconnected = make(session, ["x:0"], ["product:0"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="feed a value for placeholder tensor 'z'"):
        unconnected(np.float32([1.0]))


def test_connections_that_read_each_other_are_a_cycle():
    with tf.Graph().as_default(), tf.Session() as session:
        p, q = tf.placeholder(tf.float32, [], name="p"), tf.placeholder(tf.float32, [], name="q")
        tf.add(q, 1.0, name="x")
        tf.add(p, 1.0, name="y")
        with pytest.raises(tf.errors.InvalidArgumentError, match='between nodes "q" and "y" would create a cycle'):
            make(session, [], ["x:0"], ("x:0", "p:0"), ("y:0", "q:0"))


@pytest.mark.parametrize("feed, connections, message", [
    (["x:0", "z:0"], [("y:0", "z:0")], "fed more than once"),
    (["x:0"], [("y:0", "z:0"), ("count:0", "z:0")], "fed more than once"),
    (["x:0"], [("behind:0", "z:0")], 'between nodes "z" and "behind" would create a cycle'),
])
def test_connections_that_cannot_be_made(session, feed, connections, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        make(session, feed, ["product:0"], *connections)
