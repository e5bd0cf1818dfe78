"""Accuracy of one batch; how often the label is among the best k."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_means
from penstock._src.ops.metrics import metrics_base
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that equal the labels, weighted if `weights` are given."""
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError("Labels should have bool, integer or string dtype, not %r" % labels.dtype)
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError("Dtypes of predictions and labels should match. Given: predictions (%r) and labels (%r)" %
                         (predictions.dtype, labels.dtype))
    with ops.name_scope(name, "accuracy", values=[predictions, labels]):
        correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            correct = math_ops.multiply(correct, weights)
            present = math_ops.multiply(weights, 1.0) + 0.0 * correct
            return math_ops.div(math_ops.reduce_sum(correct), math_ops.reduce_sum(present))
        return math_ops.reduce_mean(correct)


def streaming_recall_at_k(predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None,
                          name=None):
    """How often the label is among the k largest predictions: a value over all batches, and its update.

    predictions: floats [batch, classes]; labels and weights: [batch].
    """
    found = math_ops.cast(nn_activation.in_top_k(predictions, labels, k), dtypes.float32)
    return metrics_means.mean(found, weights, metrics_collections, updates_collections, name or "recall_at_%d" % k)


def f1_score(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None,
             updates_collections=None, name=None):
    """The best F1 score (2 precision recall / (precision + recall)) of all thresholds: a value over all batches, and
    its update. `predictions` are in [0, 1]; `num_thresholds` lie evenly from 0 to 1."""
    with variable_scope.variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = metrics_base.remove_squeezable_dimensions(
            predictions=predictions, labels=labels, weights=weights)
        epsilon = 1e-7  # keeps 0 out of denominators, and the first and last threshold outside of [0, 1]
        inner = [i / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
        values, updates = metrics_base.confusion_matrix_at_thresholds(
            labels, predictions, [-epsilon] + inner + [1 + epsilon], weights, includes=("tp", "fp", "fn"))

        def best(counts, kind):
            hits = counts["tp"]
            precision = math_ops.div(hits, epsilon + hits + counts["fp"], name="precision_" + kind)
            recall = math_ops.div(hits, epsilon + hits + counts["fn"], name="recall_" + kind)
            return math_ops.reduce_max(2.0 * precision * recall / (precision + recall + epsilon))

        value = metrics_base.in_collections(metrics_collections, best(values, "value"))
        return value, metrics_base.in_collections(updates_collections, best(updates, "update"))
