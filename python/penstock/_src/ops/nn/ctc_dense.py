"""The CTC loss by recursions over the states of an alignment, forward and backward (Graves et al., 2006), as TensorFlow
has it for dense labels: any labels and lengths have a loss.

The states of L labels are L + 1 label states, of which the first is the start, and behind each its blank. Arrays of
them are [batch, 2, L + 1]. An alignment that does not end in the last label or its blank counts with e ** _NEVER.
"""
import numpy as np

from penstock._src.graph import constant_op, gen, ops
from penstock._src.core_ops import array_ops, math_ops, special_math_ops
from penstock._src.gradient import custom_gradient
from penstock._src.control_flow import functional_ops
from penstock._src.ops.nn import nn_activation

_NEVER = np.log(1e-307)


def loss(labels, logits, label_length, logit_length):
    """The negative log likelihoods, [batch].

    labels: [batch, longest]. logits: [time, batch, classes]; class 0 is the blank. label_length, logit_length: [batch].
    """

    @custom_gradient.custom_gradient
    def compute(logits):
        value, slope = _loss_and_gradient(labels, logits, label_length, logit_length)
        return value, lambda dy: array_ops.reshape(dy, [1, -1, 1]) * slope

    with ops.name_scope("ctc_dense"):
        return compute(logits)


def _loss_and_gradient(labels, logits, label_length, logit_length):
    dtype = logits.dtype
    classes = array_ops.one_hot(labels, array_ops.shape(logits)[2], dtype=dtype)  # zeros where there is no such class
    seen = _observed(classes, nn_activation.log_softmax(logits))
    never = constant_op.constant(_NEVER, dtype)
    skips = _skips(labels, dtype)
    shape = array_ops.shape(seen)[1:]
    start = array_ops.one_hot(array_ops.zeros_like(label_length), shape[1] * shape[2], 0.0, never, dtype=dtype)
    start = array_ops.reshape(start, shape)
    last = array_ops.one_hot(label_length, shape[2], 0.0, never, dtype=dtype)
    last = array_ops.stack([last, last], axis=1)
    within = array_ops.transpose(array_ops.sequence_mask(logit_length, array_ops.shape(logits)[0]))  # [time, batch]

    def forward(state, seen):
        label, blank = array_ops.unstack(state, axis=1)
        state = array_ops.stack([_log_sum(label, _right(blank), _right(label) + skips), _log_sum(blank, label)], axis=1)
        return _normal(state + seen)[0]

    def backward(carried, step):
        (state, total), (seen, counts) = carried, step
        label, blank = array_ops.unstack(state + seen, axis=1)
        state, scale = _normal(array_ops.stack(
            [_log_sum(label, blank, _left(label + skips)), _log_sum(blank, _left(label))], axis=1))
        return (array_ops.where_v2(counts[:, None, None], state, last),
                array_ops.where_v2(counts, total + scale, total))

    begun = functional_ops.scan(forward, seen, start, back_prop=False)
    ended, total = functional_ops.scan(backward, (seen, within), (last, array_ops.zeros_like(last[:, 0, 0])),
                                          back_prop=False, reverse=True)
    value = -(ended[0, :, 0, 0] + total[0])
    after = array_ops.concat([ended[1:], last[None]], axis=0)
    alignment = gen.exp(_normal_each(begun + after))  # the probability of each state at each time
    by_class = special_math_ops.einsum("tbl,blc->tbc", alignment[:, :, 0, 1:], classes)
    blank = math_ops.reduce_sum(alignment[:, :, 1], axis=2, keepdims=True)
    by_class = array_ops.concat([blank, by_class[:, :, 1:]], axis=2)
    slope = array_ops.where_v2(within[:, :, None], nn_activation.softmax(logits) - by_class,
                               array_ops.zeros_like(logits))
    return value, slope


def _observed(classes, log_probabilities):
    """The log probability of what each state emits, [time, batch, 2, L + 1]; the start emits nothing."""
    label = special_math_ops.einsum("tbc,blc->tbl", log_probabilities, classes)
    blank = log_probabilities[:, :, :1]
    label = array_ops.concat([array_ops.zeros_like(blank) - np.inf, label], axis=2)
    return array_ops.stack([label, blank + array_ops.zeros_like(label)], axis=2)


def _skips(labels, dtype):
    """0 where a label may come right behind the one before, -inf where it repeats it; [batch, L + 1]."""
    repeats = math_ops.equal(labels[:, 1:], labels[:, :-1])
    repeats = array_ops.pad(repeats, [[0, 0], [2, 0]])[:, :array_ops.shape(labels)[1] + 1]
    zeros = array_ops.zeros_like(repeats, dtype=dtype)
    return array_ops.where_v2(repeats, zeros - np.inf, zeros)


def _right(states):
    return array_ops.concat([array_ops.zeros_like(states[:, :1]) - np.inf, states[:, :-1]], axis=1)


def _left(states):
    return array_ops.concat([states[:, 1:], array_ops.zeros_like(states[:, :1]) - np.inf], axis=1)


def _log_sum(*terms):
    return math_ops.reduce_logsumexp(array_ops.stack(terms), axis=0)


def _normal(state):
    """(log probabilities that add up to 1 in each row, what they added up to)."""
    scale = math_ops.reduce_logsumexp(state, axis=[1, 2])
    return state - scale[:, None, None], scale


def _normal_each(states):
    return states - math_ops.reduce_logsumexp(states, axis=[2, 3], keepdims=True)
