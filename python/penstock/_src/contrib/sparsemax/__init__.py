"""tf.contrib.sparsemax: the nearest probabilities to logits, many of which are zero, and the loss that belongs to them
(Martins and Astudillo, "From Softmax to Sparsemax")."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.nn import nn_activation

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits, name=None):
    """max(logits - t, 0) with a t for each row such that its elements add up to 1. Rows that have none (they hold NaN,
    or an infinity that leaves nothing) are NaN.

    logits: floats [batch, classes].
    """
    with ops.name_scope(name, "sparsemax", [logits]):
        logits = ops.convert_to_tensor(logits, name="logits")
        classes = array_ops.shape(logits)[1]
        ordered, _ = nn_activation.top_k(logits, k=classes)
        sums = math_ops.cumsum(ordered, axis=1)
        counts = math_ops.range(1, math_ops.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        # How many of the greatest are positive: at first 1 + k * the k-th is greater than the sum of k, then never.
        support = math_ops.reduce_sum(math_ops.cast(1 + counts * ordered > sums, dtypes.int32), axis=1)
        last = array_ops.expand_dims(gen.maximum(support, 1) - 1, 1)
        threshold = (array_ops.gather(sums, last, axis=1, batch_dims=1) - 1) / math_ops.cast(
            array_ops.expand_dims(support, 1), logits.dtype)
        found = gen.maximum(logits - threshold, array_ops.zeros_like(logits))
        lost = gen.logical_or(math_ops.equal(support, 0), gen.is_nan(sums[:, -1]))
        nothing = array_ops.fill(array_ops.shape(logits), math_ops.cast(float("nan"), logits.dtype))
        return array_ops.where(lost, nothing, found)


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """For each row the loss that has `sparsemax` - labels as its gradient by the logits.

    logits, sparsemax (what they give), labels (probabilities): floats [batch, classes].
    """
    with ops.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = ops.convert_to_tensor(logits, name="logits")
        sparsemax = ops.convert_to_tensor(sparsemax, name="sparsemax")
        labels = ops.convert_to_tensor(labels, name="labels")
        # Infinite logits without part in the sums do not make them NaN.
        taken = gen.logical_or(sparsemax > 0, gen.is_nan(sparsemax))
        chosen = array_ops.where(taken, sparsemax * (logits - 0.5 * sparsemax), array_ops.zeros_like(sparsemax))
        unasked = gen.logical_and(math_ops.equal(labels, 0), gen.is_inf(logits))
        wanted = array_ops.where(unasked, array_ops.zeros_like(logits), labels * (0.5 * labels - logits))
        return math_ops.reduce_sum(chosen + wanted, axis=1)
