"""Losses: weighted, reduced to a number, and put into the collection LOSSES."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.metrics import confusion_matrix
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.metrics import weights_broadcast_ops
from penstock._src.ops.metrics import util


class Reduction(object):
    """How the losses of the elements become one: not at all, their sum, or a mean."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        """All ways, as a tuple."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        """ValueError if `key` is none of them."""
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


def _safe_mean(losses, num_present):
    return math_ops.div_no_nan(math_ops.reduce_sum(losses), num_present, name="value")


def _num_present(losses, weights, per_batch=False):
    """The number of elements whose weight is not zero; for each example if `per_batch`."""
    if isinstance(weights, float) and weights != 0.0:
        return _num_elements(losses)
    with ops.name_scope(None, "num_present", (losses, weights)) as scope:
        weights = math_ops.cast(weights, dtype=dtypes.float32)
        present = array_ops.where(math_ops.equal(weights, 0.0), array_ops.zeros_like(weights),
                                  array_ops.ones_like(weights))
        present = weights_broadcast_ops.broadcast_weights(present, losses)
        if per_batch:
            axes = math_ops.range(1, array_ops.rank(present))
            return math_ops.reduce_sum(present, axis=axes, keepdims=True, name=scope)
        return math_ops.reduce_sum(present, name=scope)


def _num_elements(losses):
    with ops.name_scope(None, "num_elements", values=[losses]) as scope:
        return math_ops.cast(array_ops.size(losses, name=scope), dtype=losses.dtype)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
                          reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The losses times the weights, reduced.

    Args:
      losses: Losses of the elements, the batch first.
      weights: A number, or a tensor of the losses' rank whose dimensions are 1 or the losses'.
    """
    Reduction.validate(reduction)
    with ops.name_scope(scope, "weighted_loss", (losses, weights)):
        ops.get_default_graph()._last_loss_reduction = reduction
        with ops.control_dependencies((weights_broadcast_ops.assert_broadcastable(weights, losses),)):
            losses = ops.convert_to_tensor(losses)
            input_dtype = losses.dtype
            losses = math_ops.cast(losses, dtype=dtypes.float32)
            weights = math_ops.cast(weights, dtype=dtypes.float32)
            loss = math_ops.multiply(losses, weights)
            loss = math_ops.cast(_reduced(loss, losses, weights, reduction), input_dtype)
            util.add_loss(loss, loss_collection)
            return loss


def _reduced(weighted, losses, weights, reduction):
    """`weighted`, the products of losses and weights, as one number, unless there is to be no reduction."""
    if reduction == Reduction.NONE:
        return weighted
    total = math_ops.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(total, math_ops.reduce_sum(array_ops.ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _safe_mean(total, _num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(total, _num_elements(losses))
    return total


def _check_given(**arguments):
    for name, value in arguments.items():
        if value is None:
            raise ValueError("%s must not be None." % name)


def _both_float(first, second):
    """The two in float32, which must have compatible shapes."""
    first = math_ops.cast(first, dtype=dtypes.float32)
    second = math_ops.cast(second, dtype=dtypes.float32)
    first.get_shape().assert_is_compatible_with(second.get_shape())
    return first, second


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
                        reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """|predictions - labels|."""
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = _both_float(predictions, labels)
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
                    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, dim=None):
    """1 - the dot product along `axis` of what should be unit vectors already."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _both_float(predictions, labels)
        products = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
               reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """max(0, 1 - y * logits) with y = -1 for label 0 and 1 for label 1."""
    _check_given(labels=labels, logits=logits)
    with ops.name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = _both_float(logits, labels)
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        losses = gen.relu(math_ops.subtract(ones, math_ops.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
               reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """Half the squared error up to an error of `delta`, linear beyond."""
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _both_float(predictions, labels)
        error = math_ops.abs(math_ops.subtract(predictions, labels))
        quadratic = gen.minimum(error, delta)
        linear = math_ops.subtract(error, quadratic)
        half = ops.convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = math_ops.add(math_ops.multiply(half, math_ops.multiply(quadratic, quadratic)),
                              math_ops.multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=ops.GraphKeys.LOSSES,
             reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """-log of the probability that `predictions` give to `labels`."""
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _both_float(predictions, labels)
        losses = (-math_ops.multiply(labels, gen.log(predictions + epsilon)) -
                  math_ops.multiply(1 - labels, gen.log(1 - predictions + epsilon)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES):
    """The squared difference between differences of pairs of elements, within each example."""
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights = math_ops.cast(weights, dtype=dtypes.float32)
        labels = math_ops.cast(labels, dtype=dtypes.float32)
        with ops.control_dependencies((weights_broadcast_ops.assert_broadcastable(weights, labels),)):
            predictions = math_ops.cast(predictions, dtype=dtypes.float32)
            predictions.get_shape().assert_is_compatible_with(labels.get_shape())
            diffs = math_ops.subtract(predictions, labels)
            axes = math_ops.range(1, array_ops.rank(diffs))
            squares = math_ops.reduce_sum(math_ops.square(diffs), axis=axes, keepdims=True)
            present = _num_present(diffs, weights, per_batch=True)
            term1 = 2.0 * math_ops.div_no_nan(squares, gen.maximum(present - 1, 0), name="value")
            total = math_ops.reduce_sum(diffs, axis=axes, keepdims=True)
            pairs = gen.maximum(math_ops.multiply(present, present - 1), 0)
            term2 = 2.0 * math_ops.div_no_nan(math_ops.square(total), pairs, name="value")
            loss = math_ops.reduce_sum(math_ops.multiply(term1 - term2, weights))
            mean_loss = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss),
                                        name="value")
            util.add_loss(mean_loss, loss_collection)
            return mean_loss


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
                       reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """(predictions - labels)^2."""
    _check_given(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = _both_float(predictions, labels)
        losses = gen.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=ops.GraphKeys.LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The cross entropy of independent classes; smoothing moves the labels towards one half."""
    _check_given(multi_class_labels=multi_class_labels, logits=logits)
    with ops.name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = ops.convert_to_tensor(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_impl.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=ops.GraphKeys.LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The cross entropy of exclusive classes; smoothing moves the labels towards the uniform distribution."""
    _check_given(onehot_labels=onehot_labels, logits=logits)
    with ops.name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = ops.convert_to_tensor(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            negative = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + negative
        labels = gen.stop_gradient(labels, name="labels_stop_gradient")
        losses = nn_loss.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _remove_squeezable_dimensions(labels, predictions, weights=None, expected_rank_diff=0):
    """The three without a last dimension of size 1 that is one too many."""
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions,
                                                                        expected_rank_diff=expected_rank_diff)
    if weights is not None:
        weights = ops.convert_to_tensor(weights)
        labels_rank = labels.get_shape().ndims
        shape = weights.get_shape()
        if labels_rank is not None and shape.ndims is not None:
            if shape.ndims - labels_rank == 1:
                weights = array_ops.squeeze(weights, [-1])
            return labels, predictions, weights
        difference = array_ops.rank(weights) - array_ops.rank(labels)
        if shape.ndims is None or (shape.ndims > 0 and shape.dims[-1].is_compatible_with(1)):
            given = weights
            weights = cond_lib.cond(math_ops.equal(1, difference), lambda: array_ops.squeeze(given, [-1]),
                                    lambda: given)
    return labels, predictions, weights


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=ops.GraphKeys.LOSSES,
                                 reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The cross entropy of exclusive classes, labels being their numbers."""
    _check_given(labels=labels, logits=logits)
    with ops.name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        # [batch, 1] means [batch] for labels and weights.
        labels, logits, weights = _remove_squeezable_dimensions(labels, logits, weights, expected_rank_diff=1)
        losses = nn_loss.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
