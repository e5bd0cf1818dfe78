"""What counts as a tensor by its class, as programs of version 1 ask."""
import penstock.v1 as tf
from penstock._src.graph import ops
from penstock._src.graph import tensor_like


def test_values_of_a_graph_are_like_tensors():
    like = ops._TensorLike
    assert like is tensor_like._TensorLike
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        variable = tf.Variable(x)
        for value in (x, tf.SparseTensor([[0]], x, [1]), tf.IndexedSlices(x, tf.constant([0]))):
            assert isinstance(value, like)
        for value in (variable, tf.ragged.constant([[1], []]), x.op, 1.0):
            assert not isinstance(value, like)
