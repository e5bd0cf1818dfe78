"""Linear-chain conditional random fields: scores, likelihoods, the likeliest tags.

Everywhere: `inputs` (or `potentials`) [batch, length, tags] are the scores of tags at each place, `tag_indices` [batch,
length] are tags, `sequence_lengths` [batch] say how much of each row counts, `transition_params` [tags, tags] are the
scores of going from one tag to another.
"""
import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.control_flow import smart_cond
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn import rnn
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.ops.state import variable_scope as vs

__all__ = ["CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell", "crf_binary_score",
           "crf_decode", "crf_log_likelihood", "crf_log_norm", "crf_multitag_sequence_score", "crf_sequence_score",
           "crf_unary_score", "viterbi_decode"]


def _by_length(inputs, one, many):
    """What `one` returns if sequences are of length 1, else what `many` returns."""
    length = tensor_shape.dimension_value(inputs.shape[1]) or array_ops.shape(inputs)[1]
    return smart_cond.smart_cond(math_ops.equal(length, 1), one, many)


def _zero_if_empty(scores, sequence_lengths):
    return array_ops.where(gen.less_equal(sequence_lengths, 0), array_ops.zeros_like(scores), scores)


def _less_one(sequence_lengths):
    return gen.maximum(constant_op.constant(0, dtype=sequence_lengths.dtype), sequence_lengths - 1)


def _first(inputs):
    return array_ops.squeeze(array_ops.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The score of the given tags, [batch]; 0 for empty sequences."""
    def one():
        rows = math_ops.range(array_ops.shape(inputs, out_type=tag_indices.dtype)[0], dtype=tag_indices.dtype)
        scores = array_ops.gather_nd(array_ops.squeeze(inputs, [1]),
                                     array_ops.concat([array_ops.reshape(rows, [-1, 1]), tag_indices], axis=1))
        return _zero_if_empty(scores, sequence_lengths)

    def many():
        return (crf_unary_score(tag_indices, sequence_lengths, inputs) +
                crf_binary_score(tag_indices, sequence_lengths, transition_params))

    return _by_length(inputs, one, many)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The score, [batch], of all sequences together whose tags are true in `tag_bitmap` [batch, length, tags]."""
    def allowed():
        return array_ops.where(tag_bitmap, inputs, array_ops.fill(array_ops.shape(inputs), float("-inf")))

    return _by_length(inputs, lambda: math_ops.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
                      lambda: crf_log_norm(allowed(), sequence_lengths, transition_params))


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the sum of exp(score) over all sequences of tags, [batch]; 0 for empty sequences."""
    first = _first(inputs)

    def one():
        return _zero_if_empty(math_ops.reduce_logsumexp(first, [1]), sequence_lengths)

    def many():
        _, alphas = rnn.dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params), inputs=array_ops.slice(inputs, [0, 1, 0], [-1, -1, -1]),
            sequence_length=_less_one(sequence_lengths), initial_state=first, dtype=dtypes.float32)
        return _zero_if_empty(math_ops.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _by_length(inputs, one, many)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """(log-likelihoods [batch] of the given tags, transition_params); the variable "transitions" by default."""
    tags = tensor_shape.dimension_value(inputs.shape[2])
    if transition_params is None:
        transition_params = vs.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def _mask(tag_indices, sequence_lengths):
    return array_ops.sequence_mask(sequence_lengths, maxlen=array_ops.shape(tag_indices)[1], dtype=dtypes.float32)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of the tags' own scores, [batch]."""
    batch_size, length, tags = (array_ops.shape(inputs)[i] for i in range(3))
    offsets = (array_ops.expand_dims(math_ops.range(batch_size) * length * tags, 1) +
               array_ops.expand_dims(math_ops.range(length) * tags, 0))
    if tag_indices.dtype == dtypes.int64:
        offsets = math_ops.cast(offsets, dtypes.int64)
    scores = array_ops.gather(array_ops.reshape(inputs, [-1]), array_ops.reshape(offsets + tag_indices, [-1]))
    scores = array_ops.reshape(scores, [batch_size, length])
    return math_ops.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of the scores of going from each tag to the next, [batch]."""
    tags = tensor_shape.dimension_value(transition_params.shape[0])
    transitions = array_ops.shape(tag_indices)[1] - 1
    start = array_ops.slice(tag_indices, [0, 0], [-1, transitions])
    end = array_ops.slice(tag_indices, [0, 1], [-1, transitions])
    scores = array_ops.gather(array_ops.reshape(transition_params, [-1]), start * tags + end)
    mask = array_ops.slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return math_ops.reduce_sum(scores * mask, 1)


class _TransitionCell(rnn_cell_impl.RNNCell):
    """A cell whose state has one score for each tag."""

    def __init__(self, transition_params):
        self._transition_params = array_ops.expand_dims(transition_params, 0)
        self._num_tags = tensor_shape.dimension_value(transition_params.shape[0])

    @property
    def state_size(self):
        return self._num_tags

    @property
    def output_size(self):
        return self._num_tags

    def _transition_scores(self, state):
        return array_ops.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_TransitionCell):
    """One step of the sum over all sequences of tags."""

    def __call__(self, inputs, state, scope=None):
        """(alphas, alphas) of the scores of tags here and the alphas before, each [batch, tags]."""
        alphas = inputs + math_ops.reduce_logsumexp(self._transition_scores(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_TransitionCell):
    """One step of the search for the likeliest tags."""

    def __call__(self, inputs, state, scope=None):
        """(the best tag before each tag, int32; the best score up to each tag), each [batch, tags]."""
        scores = self._transition_scores(state)
        best = inputs + math_ops.reduce_max(scores, [1])
        return math_ops.cast(math_ops.argmax(scores, 1), dtype=dtypes.int32), best


class CrfDecodeBackwardRnnCell(rnn_cell_impl.RNNCell):
    """One step back along the best tags."""

    def __init__(self, num_tags):
        self._num_tags = num_tags

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return 1

    def __call__(self, inputs, state, scope=None):
        """(tag, tag), each [batch, 1], of the best tags before each tag [batch, tags] and the tag [batch, 1]."""
        state = array_ops.squeeze(state, axis=[1])
        indices = array_ops.stack([math_ops.range(array_ops.shape(inputs)[0]), state], axis=1)
        tags = array_ops.expand_dims(array_ops.gather_nd(inputs, indices), axis=-1)
        return tags, tags


def viterbi_decode(score, transition_params):
    """(the likeliest tags, their score) of one sequence, in NumPy: score [length, tags]."""
    trellis = np.zeros_like(score)
    before = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for t in range(1, score.shape[0]):
        v = np.expand_dims(trellis[t - 1], 1) + transition_params
        trellis[t] = score[t] + np.max(v, 0)
        before[t] = np.argmax(v, 0)
    viterbi = [np.argmax(trellis[-1])]
    for row in reversed(before[1:]):
        viterbi.append(row[viterbi[-1]])
    viterbi.reverse()
    return viterbi, np.max(trellis[-1])


def crf_decode(potentials, transition_params, sequence_length):
    """(the likeliest tags [batch, length], int32; their scores [batch])."""
    def one():
        scores = array_ops.squeeze(potentials, [1])
        tags = array_ops.expand_dims(math_ops.argmax(scores, axis=1), 1)
        return math_ops.cast(tags, dtype=dtypes.int32), math_ops.reduce_max(scores, axis=1)

    def many():
        less_one = _less_one(sequence_length)
        before, last = rnn.dynamic_rnn(
            CrfDecodeForwardRnnCell(transition_params), inputs=array_ops.slice(potentials, [0, 1, 0], [-1, -1, -1]),
            sequence_length=less_one, initial_state=_first(potentials), time_major=False, dtype=dtypes.int32)
        tag = array_ops.expand_dims(math_ops.cast(math_ops.argmax(last, axis=1), dtype=dtypes.int32), axis=-1)
        tags, _ = rnn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(tensor_shape.dimension_value(potentials.shape[2])),
            inputs=array_ops.reverse_sequence(before, less_one, seq_axis=1), sequence_length=less_one,
            initial_state=tag, time_major=False, dtype=dtypes.int32)
        tags = array_ops.concat([tag, array_ops.squeeze(tags, axis=[2])], axis=1)
        return array_ops.reverse_sequence(tags, sequence_length, seq_axis=1), math_ops.reduce_max(last, axis=1)

    return _by_length(potentials, one, many)
