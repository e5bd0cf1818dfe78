"""Tensors that stay in a session from one run to the next."""
import gc

import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess


def test_handles_are_fetched_and_fed(sess):
    a, b = tf.constant(10), tf.constant(5)
    product = a * b
    handle, plain = sess.run([tf.get_session_handle(product), product])
    assert plain == 50 and handle.eval() == 50 and str(handle) == handle.handle
    holder, kept = tf.get_session_tensor(handle.handle, tf.int32)
    assert sess.run(kept * 10, {holder: handle.handle}) == 500
    assert sess.run(product + 1, {product: handle}) == 51
    assert sess.run({"x": [tf.get_session_handle(a)]})["x"][0].eval() == 10
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle(3)


def test_a_loop_over_a_kept_tensor(sess):
    handle = sess.run(tf.get_session_handle(tf.zeros([3])))
    holder, kept = tf.get_session_tensor(handle.handle, tf.float32)
    step = tf.get_session_handle(kept + 1.0)
    for _ in range(50):
        handle = sess.run(step, {holder: handle.handle})
    assert handle.eval().tolist() == [50.0] * 3


def test_deleted_tensors(sess):
    handle = sess.run(tf.get_session_handle(tf.constant(1.0)))
    handle.delete()
    with pytest.raises(TypeError, match="already been deleted"):
        handle.eval()
    raw = sess.run(tf.get_session_handle(tf.constant(1.0))).get_raw_handle()
    holder, deleter = tf.delete_session_tensor(raw)
    sess.run(deleter, {holder: raw})
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        sess.run(deleter, {holder: raw})
    holder, kept = tf.get_session_tensor(raw, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        sess.run(kept, {holder: raw})


def test_dropped_handles_free_their_tensors(sess):
    make = tf.get_session_handle(tf.constant(np.ones(3)))
    texts = [sess.run(make).handle for _ in range(30)]
    gc.collect()
    holder, kept = tf.get_session_tensor(texts[0], tf.float64)
    sess.run(make)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        sess.run(kept, {holder: texts[0]})
