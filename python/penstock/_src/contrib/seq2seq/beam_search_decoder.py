"""Decoding that keeps the best few sequences of each batch entry."""
import collections

import numpy as np

from penstock._src.contrib.seq2seq import attention_wrapper
from penstock._src.contrib.seq2seq import beam_search_ops
from penstock._src.contrib.seq2seq import decoder
from penstock._src.contrib.seq2seq.basic_decoder import cell_output_size
from penstock._src.contrib.seq2seq.helper import _embedding_function
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.layers import base as layers_base
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.cond import cond
from penstock._src.base import tf_logging as logging
from penstock._src.base import nest


class BeamSearchDecoderState(collections.namedtuple(
        "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))):
    """The state of the search."""


class BeamSearchDecoderOutput(collections.namedtuple(
        "BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))):
    """What a step gives: for each beam its score, its token, and the beam that it goes on from."""


class FinalBeamSearchDecoderOutput(collections.namedtuple(
        "FinalBeamDecoderOutput", ["predicted_ids", "beam_search_decoder_output"])):
    """What the search gives: the tokens of the beams, best first, and the outputs of all steps."""


def _known(x):
    return tensor_util.constant_value(x) if isinstance(x, ops.Tensor) else x


def _tile_batch(t, multiplier):
    t = ops.convert_to_tensor(t, name="t")
    shape = array_ops.shape(t)
    if t.shape.ndims is None or t.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    tiling = [1] * (t.shape.ndims + 1)
    tiling[1] = multiplier
    known = t.shape.dims[0].value
    tiled = gen.tile(array_ops.expand_dims(t, 1), tiling)
    tiled = array_ops.reshape(tiled, array_ops.concat(([shape[0] * multiplier], shape[1:]), 0))
    tiled.set_shape(tensor_shape.TensorShape([None if known is None else known * multiplier]).concatenate(t.shape[1:]))
    return tiled


def tile_batch(t, multiplier, name=None):
    """Each entry of the first dimension `multiplier` times, one after the other."""
    with ops.name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda x: _tile_batch(x, multiplier), t)


def gather_tree_from_array(t, parent_ids, sequence_length):
    """[time, batch, beams, ...] values, each beam's taken along the way that led to it."""
    steps, batch, width = (parent_ids.shape.dims[i].value or array_ops.shape(parent_ids)[i] for i in range(3))
    beams = array_ops.expand_dims(array_ops.expand_dims(math_ops.range(width), 0), 0)
    beams = gen.tile(beams, [steps, batch, 1])
    lengths = math_ops.cast(math_ops.reduce_max(sequence_length, axis=1), dtypes.int32)
    came_from = beam_search_ops.gather_tree(beams, parent_ids, lengths, end_token=width + 1)
    inside = array_ops.transpose(array_ops.sequence_mask(sequence_length, maxlen=steps), perm=[2, 0, 1])
    came_from = array_ops.where(inside, x=came_from, y=beams)
    time = gen.tile(array_ops.reshape(math_ops.range(steps), [-1, 1, 1]), [1, batch, width])
    entry = gen.tile(array_ops.reshape(math_ops.range(batch), [-1, 1, 1]), [1, steps, width])
    indices = array_ops.stack([time, array_ops.transpose(entry, perm=[1, 0, 2]), came_from], -1)
    ordered = array_ops.gather_nd(array_ops.reshape(t, [steps, batch, width, -1]), indices)
    return array_ops.reshape(ordered, array_ops.shape(t))


def _check_rank(t):
    if t.shape.ndims is None:
        raise ValueError("Expected tensor (%s) to have known rank, but ndims == None." % t)


def _is_array(t):
    return isinstance(t, tensor_array_ops.TensorArray)


def _gather(values, beams, batch_size, range_size, gather_shape, name=None):
    """Rows of `values` by index within their batch entry."""
    with ops.name_scope(name, "tensor_gather_helper"):
        offsets = array_ops.expand_dims(math_ops.range(batch_size) * range_size, 1)
        indices = array_ops.reshape(beams + offsets, [-1])
        result = array_ops.gather(array_ops.reshape(values, gather_shape), indices)
        result = array_ops.reshape(result, array_ops.shape(values)[:1 + len(gather_shape)], name="output")
        result.set_shape(tensor_shape.TensorShape([_known(batch_size)]).concatenate(
            values.shape[1:1 + len(gather_shape)]))
        return result


def _length_penalty(lengths, factor):
    factor = ops.convert_to_tensor(factor, name="penalty_factor")
    factor.set_shape(())
    known = tensor_util.constant_value(factor)
    if known is not None and known == 0:
        return 1.0
    return math_ops.div((5. + math_ops.cast(lengths, dtypes.float32)) ** factor, (5. + 1.) ** factor)


def _scores(log_probs, lengths, length_penalty_weight, coverage_penalty_weight, finished, attention):
    """Probabilities, penalized by length and by what of the memory was not looked at."""
    scores = log_probs / math_ops.cast(_length_penalty(lengths, length_penalty_weight), dtype=log_probs.dtype)
    weight = ops.convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError("coverage_penalty_weight should be a scalar, but saw shape: %s" % weight.shape)
    if tensor_util.constant_value(weight) == 0.0:
        return scores
    if attention is None:
        raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
    # What was never looked at lies behind the end of the memory.
    attention = array_ops.where(math_ops.equal(attention, 0.0), array_ops.ones_like(attention), attention)
    coverage = math_ops.reduce_sum(gen.log(gen.minimum(attention, 1.0)), 2)
    coverage *= math_ops.cast(finished, dtypes.float32)
    return scores + array_ops.expand_dims(coverage * weight, 2)


def _mask_probs(probs, end_token, finished):
    """Beams that have ended go on with nothing but the end token."""
    classes = array_ops.shape(probs)[2]
    row = array_ops.one_hot(end_token, classes, dtype=probs.dtype,
                            on_value=ops.convert_to_tensor(0., dtype=probs.dtype), off_value=probs.dtype.min)
    ended = gen.tile(array_ops.reshape(row, [1, 1, -1]), array_ops.concat([array_ops.shape(finished), [1]], 0))
    mask = gen.tile(array_ops.expand_dims(finished, 2), [1, 1, classes])
    return array_ops.where(mask, ended, probs)


def _mean(probs):
    if len(probs) == 1:
        return probs[0]
    return math_ops.reduce_mean(array_ops.concat([array_ops.expand_dims(p, -1) for p in probs], -1), -1)


def _attention_probs(cell_state, coverage_penalty_weight):
    """How much the cells attend to each step of the memory; None if nobody asks."""
    if coverage_penalty_weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, attention_wrapper.AttentionWrapperState) else \
        cell_state if isinstance(cell_state, tuple) else ()
    probs = []
    for state in states:
        if isinstance(state, attention_wrapper.AttentionWrapperState):
            alignments = state.alignments
            probs.append(_mean(alignments) if isinstance(alignments, tuple) else alignments)
    if not probs:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean(probs)


class BeamSearchDecoder(decoder.Decoder):
    """Keeps `beam_width` sequences for each of `start_tokens`, those with the best scores.

    embedding: a function of ids or a matrix. initial_state: of the cell, tiled with tile_batch. length_penalty_weight
    favours long sequences, coverage_penalty_weight those that attend to all of the memory. reorder_tensor_arrays:
    TensorArrays in the cell's state (alignment histories) follow the beams.
    """

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None,
                 length_penalty_weight=0.0, coverage_penalty_weight=0.0, reorder_tensor_arrays=True):
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, layers_base.Layer):
            raise TypeError("output_layer must be a Layer, received: %s" % type(output_layer))
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = _embedding_function(embedding)
        start_tokens = ops.convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = ops.convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array_ops.size(start_tokens)
        self._initial_cell_state = nest.map_structure(self._split_state, initial_state, self._cell.state_size)
        self._start_tokens = gen.tile(array_ops.expand_dims(start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # Only the first beam counts at the beginning, so that the beams are not all the same.
        self._finished = array_ops.one_hot(array_ops.zeros([self._batch_size], dtype=dtypes.int32), depth=beam_width,
                                           on_value=False, off_value=True, dtype=dtypes.bool)

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def tracks_own_finished(self):
        return True

    @property
    def output_size(self):
        width = tensor_shape.TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=width, predicted_ids=width, parent_ids=width)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        size = cell_output_size(self._cell, self._output_layer)
        return BeamSearchDecoderOutput(scores=nest.map_structure(lambda _: dtype, size), predicted_ids=dtypes.int32,
                                       parent_ids=dtypes.int32)

    def initialize(self, name=None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = array_ops.one_hot(
            array_ops.zeros([self._batch_size], dtype=dtypes.int32), depth=self._beam_width, dtype=dtype,
            on_value=ops.convert_to_tensor(0.0, dtype=dtype), off_value=ops.convert_to_tensor(-np.inf, dtype=dtype))
        attention = _attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state, log_probs=log_probs, finished=self._finished,
            lengths=array_ops.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention)
        return self._finished, self._start_inputs, state

    def finalize(self, outputs, final_state, sequence_lengths):
        lengths = math_ops.cast(math_ops.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = beam_search_ops.gather_tree(outputs.predicted_ids, outputs.parent_ids, lengths, self._end_token)
        if self._reorder_tensor_arrays:
            final_state = final_state._replace(cell_state=nest.map_structure(
                lambda t: self._sorted_array(t, outputs.parent_ids, final_state.lengths), final_state.cell_state))
        return FinalBeamSearchDecoderOutput(beam_search_decoder_output=outputs, predicted_ids=ids), final_state

    def _sorted_array(self, t, parent_ids, lengths):
        if not _is_array(t):
            return t
        shape, known = t.element_shape, _known(self._batch_size)
        if shape.ndims is None or shape.ndims < 1:
            logging.warn("The TensorArray %s in the cell state is not amenable to sorting based on the beam search "
                         "result. For a TensorArray to be sorted, its elements shape must be defined and have at least "
                         "a rank of 1, but saw shape: %s", t.handle.name, shape)
            return t
        first = shape.dims[0].value
        if known is not None and first is not None and first != known * self._beam_width and not (
                first == known and (shape.ndims < 2 or shape.dims[1].value in (None, self._beam_width))):
            logging.warn("TensorArray reordering expects elements to be reshapable to %s which is incompatible with "
                         "the current shape %s. Consider setting reorder_tensor_arrays to False to disable TensorArray "
                         "reordering during the beam search.", [known, self._beam_width, None], shape)
            return t
        t = t.stack()
        sizes = array_ops.shape(t)
        fits = math_ops.equal(sizes[1], self._batch_size * self._beam_width)
        if t.shape.ndims != 2:
            fits = gen.logical_or(fits, gen.logical_and(math_ops.equal(sizes[1], self._batch_size),
                                                        math_ops.equal(sizes[2], self._beam_width)))
        message = ("TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is "
                   "incompatible with the dynamic shape of %s elements. Consider setting reorder_tensor_arrays to "
                   "False to disable TensorArray reordering during the beam search." % t.name)
        with ops.control_dependencies([control_flow_ops.Assert(fits, [message])]):
            return gather_tree_from_array(t, parent_ids, lengths)

    def _merge_beams(self, t, size):
        """[batch, beams, ...] as [batch * beams, ...]."""
        size = tensor_shape.as_shape(_known(size) if isinstance(size, ops.Tensor) else size)
        known = _known(self._batch_size)
        result = array_ops.reshape(t, array_ops.concat(([self._batch_size * self._beam_width], array_ops.shape(t)[2:]),
                                                       0))
        rows = None if known is None else known * self._beam_width
        result.set_shape(tensor_shape.TensorShape([rows]).concatenate(size))
        return result

    def _split_beams(self, t, size):
        """[batch * beams, ...] as [batch, beams, ...]."""
        size = tensor_shape.as_shape(_known(size) if isinstance(size, ops.Tensor) else size)
        result = array_ops.reshape(t, array_ops.concat(([self._batch_size, self._beam_width], array_ops.shape(t)[1:]),
                                                       0))
        expected = tensor_shape.TensorShape([_known(self._batch_size), self._beam_width]).concatenate(size)
        if not result.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has shape: "
                "%s.  We expected it to have shape (batch_size, beam_width, depth) == %s.  Perhaps you forgot to "
                "create a zero_state with batch_size=encoder_batch_size * beam_width?" % (result.shape, expected))
        result.set_shape(expected)
        return result

    def _split_state(self, t, size):
        if _is_array(t):
            return t
        _check_rank(t)
        return self._split_beams(t, size) if t.shape.ndims >= 1 else t

    def _merge_state(self, t, size):
        if _is_array(t):
            return t
        _check_rank(t)
        return self._merge_beams(t, size) if t.shape.ndims >= 2 else t

    def step(self, time, inputs, state, name=None):
        with ops.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda x: self._merge_beams(x, x.shape[2:]), inputs)
            cell_state = nest.map_structure(self._merge_state, state.cell_state, self._cell.state_size)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda x: self._split_beams(x, x.shape[1:]), outputs)
            cell_state = nest.map_structure(self._split_state, cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            result, next_state = self._search(outputs, cell_state, state)
            inputs = cond(math_ops.reduce_all(next_state.finished), lambda: self._start_inputs,
                          lambda: self._embedding_fn(result.predicted_ids))
        return result, next_state, inputs, next_state.finished

    def _search(self, logits, cell_state, state):
        """One step: of all beams with all tokens, the best `beam_width`."""
        batch, width = self._batch_size, self._beam_width
        going_on = gen.logical_not(state.finished)
        probs = _mask_probs(nn_activation.log_softmax(logits), self._end_token, state.finished)
        total = array_ops.expand_dims(state.log_probs, 2) + probs
        classes = logits.shape.dims[-1].value or array_ops.shape(logits)[-1]
        # The end token does not make a sequence longer, nor does anything behind it.
        longer = array_ops.one_hot(indices=array_ops.fill([batch, width], self._end_token), depth=classes,
                                   on_value=np.int64(0), off_value=np.int64(1), dtype=dtypes.int64)
        longer *= array_ops.expand_dims(math_ops.cast(going_on, dtypes.int64), 2)
        lengths = longer + array_ops.expand_dims(state.lengths, 2)
        attention = _attention_probs(cell_state, self._coverage_penalty_weight)
        if attention is not None:
            attention *= array_ops.expand_dims(math_ops.cast(going_on, dtypes.float32), 2)
            attention = state.accumulated_attention_probs + attention
        scores = _scores(total, lengths, self._length_penalty_weight, self._coverage_penalty_weight, state.finished,
                         attention)
        best, indices = nn_activation.top_k(array_ops.reshape(scores, [batch, -1]),
                                            k=ops.convert_to_tensor(width, dtype=dtypes.int32, name="beam_width"))
        best.set_shape([_known(batch), width])
        indices.set_shape([_known(batch), width])
        log_probs = _gather(total, indices, batch, width * classes, [-1], name="next_beam_probs")
        words = math_ops.cast(gen.floor_mod(indices, classes, name="next_beam_word_ids"), dtypes.int32)
        beams = math_ops.cast(indices / classes, dtypes.int32, name="next_beam_parent_ids")

        def of_beams(x, shape, name=None):
            return _gather(x, beams, batch, width, shape, name)

        ended = of_beams(state.finished, [-1])
        finished = gen.logical_or(ended, math_ops.equal(words, self._end_token), name="next_beam_finished")
        lengths = of_beams(state.lengths, [-1]) + math_ops.cast(gen.logical_not(ended), dtypes.int64)
        rows = [batch * width, -1]
        if attention is not None:
            attention = of_beams(attention, rows, name="next_accumulated_attention_probs")

        def next_cell_state(x):
            if _is_array(x):
                return x
            _check_rank(x)
            return of_beams(x, rows) if x.shape.ndims >= len(rows) else x

        following = BeamSearchDecoderState(
            cell_state=nest.map_structure(next_cell_state, cell_state), log_probs=log_probs, lengths=lengths,
            finished=finished, accumulated_attention_probs=() if attention is None else attention)
        return BeamSearchDecoderOutput(scores=best, predicted_ids=words, parent_ids=beams), following
