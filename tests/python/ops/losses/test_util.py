"""The collection of losses. Expected values: TensorFlow 1.15.5's."""
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

LOSSES = {
    "absolute_difference": lambda **k: tf.losses.absolute_difference([1.0], [2.0], **k),
    "compute_weighted_loss": lambda **k: tf.losses.compute_weighted_loss([2.0], **k),
    "cosine_distance": lambda **k: tf.losses.cosine_distance([[1.0]], [[2.0]], axis=1, **k),
    "hinge_loss": lambda **k: tf.losses.hinge_loss([1.0], [2.0], **k),
    "huber_loss": lambda **k: tf.losses.huber_loss([1.0], [2.0], **k),
    "log_loss": lambda **k: tf.losses.log_loss([1.0], [0.2], **k),
    "mean_pairwise_squared_error": lambda **k: tf.losses.mean_pairwise_squared_error([[1.0]], [[2.0]], **k),
    "mean_squared_error": lambda **k: tf.losses.mean_squared_error([1.0], [2.0], **k),
    "sigmoid_cross_entropy": lambda **k: tf.losses.sigmoid_cross_entropy([[1.0]], [[2.0]], **k),
    "softmax_cross_entropy": lambda **k: tf.losses.softmax_cross_entropy([[1.0]], [[2.0]], **k),
    "sparse_softmax_cross_entropy": lambda **k: tf.losses.sparse_softmax_cross_entropy([0], [[2.0]], **k),
}


@pytest.mark.parametrize("name", LOSSES)
def test_eager_losses_are_in_no_collection(name):
    with context.eager_mode():
        LOSSES[name](loss_collection="eager losses")
        tf.losses.add_loss(tf.constant(1.0), "eager losses")
        assert tf.losses.get_losses(loss_collection="eager losses") == []
    with tf.Graph().as_default():
        loss = LOSSES[name]()
        assert tf.losses.get_losses() == [loss]
