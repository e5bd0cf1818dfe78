"""Losses of lists of logits, one entry for each time step."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.state import variable_scope as vs


def sequence_loss_by_example(logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None,
                             name=None):
    """The weighted cross entropies of a sequence, [batch], by default over the sum of its weights.

    Logits [batch, classes], targets [batch] and weights [batch], one of each for a time step; ValueError if the lists'
    lengths differ. `softmax_loss_function(labels=, logits=)` replaces the cross entropy.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError("Lengths of logits, weights, and targets must be the same %d, %d, %d." %
                         (len(logits), len(weights), len(targets)))
    with ops.name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = nn_loss.sparse_softmax_cross_entropy_with_logits(labels=array_ops.reshape(target, [-1]),
                                                                        logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = math_ops.add_n(losses)
        if average_across_timesteps:
            total /= math_ops.add_n(weights) + 1e-12
    return total


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  softmax_loss_function=None, name=None):
    """The sum, or the mean, over the batch of `sequence_loss_by_example`."""
    with ops.name_scope(name, "sequence_loss", logits + targets + weights):
        cost = math_ops.reduce_sum(sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / math_ops.cast(array_ops.shape(targets[0])[0], cost.dtype)


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq,
                       softmax_loss_function=None, per_example_loss=False, name=None):
    """(outputs, losses) of the same model at each of several pairs of lengths (encoder, decoder), the longest last.

    `seq2seq(encoder_inputs, decoder_inputs)` gives (outputs, state). ValueError if a list is shorter than that.
    """
    for what, given, needed in (("encoder_inputs", encoder_inputs, buckets[-1][0]),
                                ("targets", targets, buckets[-1][1]), ("weights", weights, buckets[-1][1])):
        if len(given) < needed:
            raise ValueError("Length of %s (%d) must be at least that of last bucket (%d)." %
                             (what, len(given), needed))
    loss_function = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with ops.name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for j, (encoder_length, decoder_length) in enumerate(buckets):
            with vs.variable_scope(vs.get_variable_scope(), reuse=True if j > 0 else None):
                bucket_outputs, _ = seq2seq(encoder_inputs[:encoder_length], decoder_inputs[:decoder_length])
                outputs.append(bucket_outputs)
                losses.append(loss_function(bucket_outputs, targets[:decoder_length], weights[:decoder_length],
                                            softmax_loss_function=softmax_loss_function))
    return outputs, losses
