"""What is known of values while a graph is built."""
import penstock.v1 as tf

from penstock._src.graph import tensor_util
from penstock._src.base import tf2


def _known():
    with tf.Graph().as_default():
        c = tf.constant([1, 2])
        seen = [tf.identity(c), tf.stop_gradient(c), *tf.unstack(c), tf.split(c, 2)[1]]
        values = [tensor_util.constant_value(tensor) for tensor in seen]
        return [None if value is None else value.tolist() for value in values]


def test_version_two_sees_through_more_ops(monkeypatch):
    assert _known() == [None] * 5  # as 1.15.5
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert _known() == [[1, 2], [1, 2], 1, 2, [2]]
