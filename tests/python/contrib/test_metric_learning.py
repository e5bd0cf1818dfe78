"""tf.contrib.losses.metric_learning, with losses and gradients of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

metric_learning = tf.contrib.losses.metric_learning


def _programs():
    """The same random inputs as in TensorFlow: (name, function of the embeddings, embeddings)."""
    draws = np.random.RandomState(3)
    for count, size, classes in [(6, 3, 2), (9, 4, 4)]:
        x, y = (draws.randn(count, size).astype(np.float32) for _ in range(2))
        if count == 9:  # two examples are the same
            x[1] = x[0]
        labels = draws.randint(classes, size=count).astype(np.int32)
        pairs = (draws.rand(count) > .5).astype(np.int32)
        several = [sorted(set(row)) for row in draws.randint(6, size=(count, 3)).tolist()]

        def sparse(several=several):
            return [tf.SparseTensor([[i] for i in row], [1.] * len(row), [6]) for row in several]

        yield from [
            (lambda e, labels=labels: metric_learning.triplet_semihard_loss(labels, e, .7), x),
            (lambda e, labels=labels: metric_learning.lifted_struct_loss(labels, e), x),
            (lambda e, labels=labels, y=y: metric_learning.npairs_loss(labels, e, tf.constant(y)), x),
            (lambda e, pairs=pairs, y=y: metric_learning.contrastive_loss(pairs, e, tf.constant(y), 3.), x),
            (lambda e, sparse=sparse, y=y: metric_learning.npairs_loss_multilabel(sparse(), e, tf.constant(y), .1), x)]


EXPECTED = [
    (2.05231, [.8397, -.0538, .2818, -1.6702]), (4.22292, [.3001, -.4054, .0142, .0004]),
    (2.30247, [.0215, .0387, -.0512, -.194]), (4.04445, [.2688, .5125, .4272, -.5526]),
    (2.90146, [.0564, .2071, -.0005, -.1129]), (.35542, [-.407, .2131, .1211, .4266]),
    (7.92008, [-.2139, .3235, .2722, .5507]), (3.65502, [-.1289, .2207, .2091, -.0155]),
    (3.29024, [0., 0., 0., 0.]), (3.76824, [-.018, .1468, .1777, .036])]


@pytest.mark.parametrize("program, expected", list(zip(_programs(), EXPECTED)))
def test_losses_and_gradients(program, expected):
    function, values = program
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(values)
        loss = function(x)
        found, gradient = session.run([loss, tf.gradients(loss, x)[0]])
    np.testing.assert_allclose(found, expected[0], rtol=1e-5)
    np.testing.assert_allclose(gradient.ravel()[:4], expected[1], atol=2e-4)


def test_wrong_labels():
    with pytest.raises(TypeError, match="sparse_labels must be a list of SparseTensors"):
        metric_learning.npairs_loss_multilabel([tf.constant([1.])], tf.ones([1, 2]), tf.ones([1, 2]))
    with pytest.raises(ValueError, match=r"labels must have the shape \[batch_size\]"):
        metric_learning.triplet_semihard_loss(tf.ones([2, 1]), tf.ones([2, 2]))
