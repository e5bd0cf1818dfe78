"""tf.contrib.losses.metric_learning: losses of embeddings, which bring examples of one label near to each other."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.lookup import logging_ops
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.sparse import sparse_ops

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "npairs_loss_multilabel", "triplet_semihard_loss"]


def pairwise_distance(feature, squared=False):
    """[n, n]: the (squared) distances between the rows of a matrix. The gradient at distance 0 is 0."""
    squares = math_ops.reduce_sum(math_ops.square(feature), axis=1, keepdims=True)
    distances = squares + array_ops.transpose(squares) - 2.0 * math_ops.matmul(feature, feature, transpose_b=True)
    distances = gen.maximum(distances, 0.0)
    apart = math_ops.cast(distances > 0.0, dtypes.float32)
    if not squared:
        distances = math_ops.sqrt(distances + (1.0 - apart) * 1e-16)
    others = 1.0 - gen.diag(array_ops.ones([array_ops.shape(feature)[0]]))
    return distances * apart * others


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """The mean over pairs of rows of d^2 where the label is 1, of max(margin - d, 0)^2 where it is 0; d: the distance.

    labels: [n] of 0 and 1. embeddings: [n, size], of length 1.
    """
    squares = math_ops.reduce_sum(gen.squared_difference(embeddings_anchor, embeddings_positive), 1)
    distances = math_ops.sqrt(squares)
    same = math_ops.cast(labels, distances.dtype)
    return math_ops.reduce_mean(
        same * math_ops.square(distances)
        + (1.0 - same) * math_ops.square(gen.maximum(margin - distances, 0.0)), name="contrastive_loss")


def masked_maximum(data, mask, dim=1):
    """The greatest of the elements that a mask of ones chooses, along a dimension that stays; the least of all if it
    chooses none."""
    least = math_ops.reduce_min(data, dim, keepdims=True)
    return math_ops.reduce_max((data - least) * mask, dim, keepdims=True) + least


def masked_minimum(data, mask, dim=1):
    """The least of the elements that a mask of ones chooses, along a dimension that stays; the greatest of all if it
    chooses none."""
    greatest = math_ops.reduce_max(data, dim, keepdims=True)
    return math_ops.reduce_min((data - greatest) * mask, dim, keepdims=True) + greatest


def _same_label(labels):
    """[n, n]: whether two labels are the same."""
    if labels.shape.ndims is not None and labels.shape.ndims != 1:
        raise ValueError(f"labels must have the shape [batch_size], not {labels.shape}")
    column = array_ops.expand_dims(labels, 1)
    return math_ops.equal(column, array_ops.transpose(column))


def _positives(same):
    """[n, n] of ones where two different examples have the same label."""
    return math_ops.cast(same, dtypes.float32) - gen.diag(array_ops.ones([array_ops.shape(same)[0]]))


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """The mean over pairs of one label of max(margin + d(pair) - d(anchor, other), 0), with squared distances; the
    other is the nearest of another label that is farther than the pair, or the farthest if there is none.

    labels: [n] of integers. embeddings: [n, size], of length 1.
    """
    labels = ops.convert_to_tensor(labels)
    same = _same_label(labels)
    others = gen.logical_not(same)
    distances = pairwise_distance(embeddings, squared=True)
    # [anchor, positive, negative]
    to_negative = array_ops.expand_dims(distances, 1)
    outside = gen.logical_and(array_ops.expand_dims(others, 1),
                              to_negative > array_ops.expand_dims(distances, 2))
    nearest = array_ops.squeeze(masked_minimum(to_negative, math_ops.cast(outside, dtypes.float32), 2), 2)
    farthest = masked_maximum(distances, math_ops.cast(others, dtypes.float32))
    negatives = array_ops.where_v2(math_ops.reduce_any(outside, 2), nearest, farthest)
    positives = _positives(same)
    return math_ops.truediv(
        math_ops.reduce_sum(gen.maximum((margin + distances - negatives) * positives, 0.0)),
        math_ops.reduce_sum(positives), name="triplet_semihard_loss")


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """For each pair of one label: its distance, and smoothly the greatest margin - d to others of either of the two;
    half the mean over the pairs of the squares of what is positive.

    labels: [n] of integers. embeddings: [n, size], not of length 1.
    """
    labels = ops.convert_to_tensor(labels)
    same = _same_label(labels)
    others = math_ops.cast(gen.logical_not(same), dtypes.float32)
    distances = pairwise_distance(embeddings)
    room = margin - distances
    greatest = masked_maximum(room, others)
    greatest = gen.maximum(greatest, array_ops.transpose(greatest))
    # [anchor, positive, negative]
    sums = math_ops.reduce_sum(gen.exp(array_ops.expand_dims(room, 1) - array_ops.expand_dims(greatest, 2))
                               * array_ops.expand_dims(others, 1), 2)
    losses = greatest + gen.log(sums + array_ops.transpose(sums)) + distances
    positives = _positives(same)
    return math_ops.truediv(
        0.25 * math_ops.reduce_sum(math_ops.square(gen.maximum(losses * positives, 0.0))),
        math_ops.reduce_sum(positives) / 2.0, name="liftedstruct_loss")


def _npairs(together, embeddings_anchor, embeddings_positive, reg_lambda, print_losses):
    """Cross entropy of the products of all anchors and positives, `together` telling how many labels two have in
    common, and the embeddings' lengths."""
    lengths = [math_ops.reduce_mean(math_ops.reduce_sum(math_ops.square(x), 1))
               for x in (embeddings_anchor, embeddings_positive)]
    l2loss = math_ops.multiply(0.25 * reg_lambda, lengths[0] + lengths[1], name="l2loss")
    similarity = math_ops.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    together = math_ops.cast(together, dtypes.float32)
    together /= math_ops.reduce_sum(together, 1, keepdims=True)
    entropy = math_ops.reduce_mean(nn_loss.softmax_cross_entropy_with_logits(logits=similarity, labels=together),
                                   name="xentropy")
    if print_losses:
        entropy = logging_ops.Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """Cross entropy of each anchor's products with all positives, of which one of its label is right, plus reg_lambda
    times a quarter of the mean squared lengths of both.

    labels: [n] of integers. embeddings: [n, size], not of length 1.
    """
    together = _same_label(ops.convert_to_tensor(labels))
    return _npairs(together, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def npairs_loss_multilabel(sparse_labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002,
                           print_losses=False):
    """npairs_loss where examples have several labels: positives are right by the number of labels in common.

    sparse_labels: a list of n sparse vectors of booleans or numbers, one for each pair. TypeError: others.
    """
    if not all(isinstance(labels, sparse_tensor.SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with ops.name_scope("NpairsLossMultiLabel"):
        rows = array_ops.stack([sparse_ops.sparse_tensor_to_dense(math_ops.cast(labels, dtypes.float32))
                                for labels in sparse_labels])
        together = math_ops.reduce_sum(
            gen.minimum(array_ops.expand_dims(rows, 0), array_ops.expand_dims(rows, 1)), 2)
        return _npairs(together, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)
