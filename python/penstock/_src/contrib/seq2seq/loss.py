"""The cross entropy of sequences."""
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_loss


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  sum_over_timesteps=False, sum_over_batch=False, softmax_loss_function=None, name=None):
    """The weighted cross entropy of [batch, time, classes] logits and [batch, time] targets: averaged or summed, over
    time, the batch, both or neither."""
    if len(logits.get_shape()) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.get_shape()) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.get_shape()) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with ops.name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_ops.shape(logits)[2]
        flat_logits = array_ops.reshape(logits, [-1, classes])
        targets = array_ops.reshape(targets, [-1])
        if softmax_loss_function is None:
            loss = nn_loss.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=flat_logits)
        else:
            loss = softmax_loss_function(labels=targets, logits=flat_logits)
        loss *= array_ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return math_ops.div_no_nan(math_ops.reduce_sum(loss), math_ops.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            loss = math_ops.reduce_sum(loss)
            return math_ops.div_no_nan(loss, math_ops.cast(math_ops.count_nonzero(weights), loss.dtype))
        loss = array_ops.reshape(loss, array_ops.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            loss = math_ops.reduce_sum(loss, axis=axis)
            return math_ops.div_no_nan(loss, math_ops.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            loss = math_ops.reduce_sum(loss, axis=axis)
            count = math_ops.cast(math_ops.count_nonzero(weights, axis=axis), dtype=loss.dtype)
            return math_ops.div_no_nan(loss, count)
        return loss
