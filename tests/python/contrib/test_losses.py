"""tf.contrib.losses, with numbers and graphs of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

LOGITS = [[1., -2., .5], [.3, .2, -1.]]
PREDICTIONS = [[.1, .7, .2], [.5, .2, .9]]
ONE_HOT = [[0., 1., 0.], [1., 0., 0.]]
OF_SAMPLES = [2., 0.]
losses = tf.contrib.losses


def constants(*values):
    return [tf.constant(v) for v in values]


# Weights for whole samples, each of three elements.
@pytest.mark.parametrize("build, expected", [
    (lambda: losses.absolute_difference(*constants(PREDICTIONS, ONE_HOT), OF_SAMPLES), .4),
    (lambda: losses.sigmoid_cross_entropy(*constants(LOGITS, ONE_HOT), OF_SAMPLES, .1), 2.826178),
    (lambda: losses.softmax_cross_entropy(*constants(LOGITS, ONE_HOT), OF_SAMPLES, .1), 6.642528),
    (lambda: losses.sparse_softmax_cross_entropy(*constants(LOGITS, [[1], [2]]), OF_SAMPLES), 7.009194),
    (lambda: losses.log_loss(*constants(PREDICTIONS, ONE_HOT), OF_SAMPLES), .456786),
    (lambda: losses.mean_squared_error(*constants(PREDICTIONS, ONE_HOT), OF_SAMPLES), .093333),
    (lambda: losses.mean_pairwise_squared_error(*constants(PREDICTIONS, ONE_HOT), OF_SAMPLES), .186667),
    (lambda: losses.cosine_distance(*constants(PREDICTIONS, ONE_HOT), 1, OF_SAMPLES), .6),
    (lambda: losses.hinge_loss(*constants(LOGITS, ONE_HOT)), [[2., 3., 1.5], [.7, 1.2, 0.]]),
])
def test_weights_of_samples(build, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        loss = build()
        np.testing.assert_allclose(session.run(loss), expected, rtol=1e-5)
        in_collection = [] if loss.shape.rank else [loss]
        assert tf.get_collection(tf.GraphKeys.LOSSES) == in_collection == losses.get_losses()


def test_names_are_those_of_the_old_losses():
    with tf.Graph().as_default() as graph:
        losses.absolute_difference(*constants(PREDICTIONS, ONE_HOT), OF_SAMPLES)
        names = [op.name.partition("/")[2] for op in graph.get_operations() if op.name.startswith("absolute_diff")]
    assert " ".join(names) == (
        "Sub Abs Const Sum/reduction_indices Sum Mul Const_1 Sum_1 NotEqual/y NotEqual Cast "
        "Sum_2/reduction_indices Sum_2 Shape Slice/begin Slice/size Slice Const_2 Prod Cast_1 Mul_1 Const_3 "
        "Sum_3 Const_4 Sum_4 value")


def test_unknown_rank():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="losses.get_shape"):
        losses.compute_weighted_loss(tf.placeholder(tf.float32))
