"""The losses of logits and labels with their first two arguments the other way round."""
from penstock._src.ops.nn import nn_loss


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """`tf.nn.softmax_cross_entropy_with_logits` of logits and labels."""
    return nn_loss.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` of logits and labels."""
    return nn_loss.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """`tf.nn.sigmoid_cross_entropy_with_logits` of logits and targets."""
    return nn_loss.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
