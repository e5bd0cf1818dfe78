"""When values are copied between NumPy and the runtime, and when they are not."""
import numpy as np
import pytest

import penstock.v1 as tf

N = 100000  # large enough that sharing would pay


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess


def test_a_fetch_hands_its_buffer_over_and_is_fresh_each_run(session):
    value = tf.placeholder(tf.float32, [])
    y = tf.fill([N], value)  # a constant would be folded, and is shared between runs
    first = session.run(y, {value: 2.0})
    assert first.flags.writeable and not first.flags.owndata
    first[:] = 0
    np.testing.assert_array_equal(session.run(y, {value: 2.0}), np.full(N, 2.0))


def test_a_fetched_constant_is_a_copy(session):
    constant = tf.constant(np.ones(N, np.float32))
    session.run(constant)[:] = 5
    assert session.run(constant)[0] == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_fetched_variable_is_a_copy(session, use_resource):
    variable = tf.Variable(tf.ones([N]), use_resource=use_resource)
    session.run(variable.initializer)
    session.run(variable)[:] = 5
    assert session.run(variable)[0] == 1


def test_a_fed_array_is_neither_written_nor_handed_back(session):
    x = tf.placeholder(tf.float32, [N])
    fed = np.ones(N, np.float32)
    for y in (tf.identity(x), tf.negative(x), tf.reshape(x, [N // 2, 2]), x + x):
        got = session.run(y, {x: fed})
        got[...] = 7
        assert (fed == 1).all()


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_a_variable_keeps_is_its_own(session, use_resource):
    x = tf.placeholder(tf.float32, [N])
    variable = tf.Variable(tf.zeros([N]), use_resource=use_resource)
    assign = tf.assign(variable, x)
    fed = np.ones(N, np.float32)
    session.run(variable.initializer)
    session.run(assign.op, {x: fed})
    fed[:] = 7
    assert session.run(variable)[0] == 1


def test_what_a_queue_keeps_is_its_own(session):
    x = tf.placeholder(tf.float32, [N])
    queue = tf.FIFOQueue(3, [tf.float32], shapes=[[N]])
    fed = np.ones(N, np.float32)
    session.run(queue.enqueue(x), {x: fed})
    fed[:] = 7
    assert session.run(queue.dequeue())[0] == 1


def test_arrays_in_other_layouts_are_fed_by_value(session):
    x = tf.placeholder(tf.float32, [None, None])
    fed = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (fed.T, fed[::2], fed[:, ::-1], np.asfortranarray(fed), fed.astype(">f4"), fed.tolist()):
        np.testing.assert_array_equal(session.run(tf.identity(x), {x: view}), np.asarray(view))
