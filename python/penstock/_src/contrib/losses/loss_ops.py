"""Losses of early version 1: predictions before labels, and weights for leading dimensions.

Unlike those of tf.losses, weights of shape [batch_size] weigh whole samples, whatever a sample's shape.
"""
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.metrics import util
from penstock._src.ops.metrics.util import get_losses, get_regularization_losses, get_total_loss  # noqa: F401
from penstock._src.base.deprecation import deprecated_argument_lookup


def _require_rank(tensor, name):
    if tensor.shape.rank is None:
        raise ValueError(f"{name}.get_shape().ndims cannot be None")


def _scaled_sum(losses, weights):
    """The sum of the losses, each times the weight of the part that it is in."""
    parts = math_ops.reduce_sum(losses, axis=list(range(weights.shape.rank, losses.shape.rank)))
    return math_ops.reduce_sum(math_ops.multiply(parts, weights))


def _num_present(losses, weights, per_batch=False):
    """How many losses have a weight other than 0; for each sample if `per_batch`."""
    if weights.shape.rank == 0:
        batch_size = array_ops.reshape(array_ops.slice(array_ops.shape(losses), [0], [1]), [])
        in_sample = math_ops.div(math_ops.cast(array_ops.size(losses), "float32"),
                                 math_ops.cast(batch_size, "float32"))
        in_sample = array_ops.where(math_ops.equal(weights, 0), 0., in_sample)
        present = math_ops.multiply(array_ops.ones(array_ops.reshape(batch_size, [1])), in_sample)
    else:
        weighted = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(weights, 0), "float32"),
                                       axis=list(range(1, weights.shape.rank)))
        rest = array_ops.slice(array_ops.shape(losses), [weights.shape.rank], [-1])
        present = math_ops.multiply(weighted, math_ops.cast(math_ops.reduce_prod(rest), "float32"))
    return present if per_batch else math_ops.reduce_sum(present)


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The sum of losses times weights over the number of losses whose weight is not 0, in the collection LOSSES.

    losses: [batch_size, d1, ...]; weights: a scalar, or of the shape of the losses' first dimensions; a last dimension
    of 1 is left out. ValueError: the rank of one of them is not known.
    """
    with ops.name_scope(scope, "weighted_loss", [losses, weights]):
        losses = ops.convert_to_tensor(losses)
        dtype = losses.dtype
        losses = math_ops.cast(losses, "float32")
        weights = math_ops.cast(ops.convert_to_tensor(weights), "float32")
        _require_rank(losses, "losses")
        _require_rank(weights, "weights")
        if weights.shape.rank > 1 and weights.shape.dims[-1].is_compatible_with(1):
            weights = array_ops.squeeze(weights, [-1])
        total = _scaled_sum(losses, weights)
        present = _num_present(losses, weights)
        mean = math_ops.cast(math_ops.div_no_nan(math_ops.reduce_sum(total), present, name="value"), dtype)
        add_loss(mean)
        return mean


add_loss = add_arg_scope(util.add_loss)


def _require_same_shape(predictions, labels):
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())


def _floats(predictions, labels):
    _require_same_shape(predictions, labels)
    return math_ops.cast(predictions, "float32"), math_ops.cast(labels, "float32")


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of |predictions - labels|."""
    with ops.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(math_ops.abs(math_ops.subtract(predictions, labels)), weights, scope=scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean cross entropy of independent classes; label_smoothing moves the labels towards 1/2."""
    with ops.name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        _require_same_shape(logits, multi_class_labels)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_loss.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """The weighted mean cross entropy of exclusive classes, given as probabilities; label_smoothing moves them towards
    1 / num_classes."""
    with ops.name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        _require_same_shape(logits, onehot_labels)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            num_classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            positive, negative = 1.0 - label_smoothing, label_smoothing / num_classes
            labels = labels * positive + negative
        losses = nn_loss.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """The weighted mean cross entropy of exclusive classes, given as numbers: [batch_size] or [batch_size, 1]."""
    with ops.name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = nn_loss.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """The weighted mean of -labels log(predictions) - (1 - labels) log(1 - predictions)."""
    with ops.name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = (-math_ops.multiply(labels, gen.log(predictions + epsilon))
                  - math_ops.multiply(1 - labels, gen.log(1 - predictions + epsilon)))
        return compute_weighted_loss(losses, weights, scope=scope)


def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - (2 labels - 1) logits), of the logits' shape and in no collection."""
    with ops.name_scope(scope, "hinge_loss", [logits, labels]) as scope:
        _require_same_shape(logits, labels)
        labels = math_ops.cast(labels, "float32")
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        return gen.relu(math_ops.subtract(ones, math_ops.multiply(signs, logits)))


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The weighted mean of (predictions - labels)^2."""
    with ops.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(gen.squared_difference(predictions, labels), weights, scope=scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The weighted sum over samples of 2 (sum of d^2 / n - (sum of d)^2 / n^2), where d are a sample's n differences
    between predictions and labels. ValueError: a rank is not known."""
    with ops.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        weights = math_ops.cast(ops.convert_to_tensor(weights), "float32")
        diffs = math_ops.subtract(predictions, labels)
        _require_rank(diffs, "diffs")
        _require_rank(weights, "weights")
        axis = list(range(1, diffs.shape.rank))
        squares = math_ops.reduce_sum(math_ops.square(diffs), axis=axis)
        present = _num_present(diffs, weights, per_batch=True)
        of_squares = 2.0 * math_ops.div_no_nan(squares, present, name="value")
        total = math_ops.reduce_sum(diffs, axis=axis)
        of_sum = 2.0 * math_ops.div_no_nan(math_ops.square(total), math_ops.square(present), name="value")
        loss = _scaled_sum(of_squares - of_sum, weights)
        mean = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """The weighted mean of 1 - predictions * labels, summed over `axis`; both are of length 1 along it.

    ValueError: no axis.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with ops.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = 1 - math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)
