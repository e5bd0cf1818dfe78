"""Losses that take predictions first; they are averaged and collected as those of tf.losses."""
from penstock.ops.losses import losses_impl
from penstock.util.deprecation import deprecated_argument_lookup


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of |predictions - labels|."""
    return losses_impl.absolute_difference(labels, predictions, weights, scope)


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The sum of losses times weights over the number of weights that are not 0."""
    return losses_impl.compute_weighted_loss(losses, weights, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """The weighted mean of 1 - predictions * labels, summed over `axis`; both are of length 1 along it."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return losses_impl.cosine_distance(labels, predictions, axis=axis, weights=weights, scope=scope)


def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - (2 labels - 1) logits), of the logits' shape and in no collection."""
    return losses_impl.hinge_loss(labels, logits, scope=scope, loss_collection=None, reduction="none")


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """The weighted mean of -labels log(predictions) - (1 - labels) log(1 - predictions)."""
    return losses_impl.log_loss(labels, predictions, weights, epsilon, scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of the squared differences between the differences of pairs of elements."""
    return losses_impl.mean_pairwise_squared_error(labels, predictions, weights, scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of (predictions - labels)^2."""
    return losses_impl.mean_squared_error(labels, predictions, weights, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean cross entropy of independent classes."""
    return losses_impl.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean cross entropy of exclusive classes, given as probabilities."""
    return losses_impl.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """The weighted mean cross entropy of exclusive classes, given as numbers."""
    return losses_impl.sparse_softmax_cross_entropy(labels, logits, weights, scope)
