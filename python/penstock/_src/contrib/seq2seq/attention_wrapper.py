"""A cell that looks at a memory."""
import collections

from penstock._src.contrib.seq2seq.attention import (  # noqa: F401  (mechanisms of programs derive from these)
    AttentionMechanism, BahdanauAttention, BahdanauMonotonicAttention, LuongAttention, LuongMonotonicAttention, hardmax,
    known_or_dynamic, monotonic_attention, safe_cumprod)
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.layers import core as layers_core
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.control_flow import tensor_array_ops
from penstock._src.base import nest

_TILE = ("Are you using the BeamSearchDecoder?  You may need to tile your {} via the tf.contrib.seq2seq.tile_batch "
         "function with argument multiple=beam_width.")


def _same_shape(old, new):
    if isinstance(old, ops.Tensor) and isinstance(new, ops.Tensor):
        if hasattr(tensor_util, "with_same_shape"):
            return tensor_util.with_same_shape(old, new)
        new.get_shape().assert_is_compatible_with(old.get_shape())
    return new


class AttentionWrapperState(collections.namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))):
    """The state of an AttentionWrapper."""

    def clone(self, **kwargs):
        """The state with other values of the same shapes."""
        return nest.map_structure(_same_shape, self, super()._replace(**kwargs))


def _attend(mechanism, cell_output, attention_state, layer):
    """(attention, alignments, next state) of one mechanism."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    context = math_ops.matmul(array_ops.expand_dims(alignments, 1), mechanism.values)
    context = array_ops.squeeze(context, [1])
    attention = context if layer is None else layer(array_ops.concat([cell_output, context], 1))
    return attention, alignments, next_state


def _as_tuple(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


class AttentionWrapper(rnn_cell_impl.RNNCell):
    """Calls `cell` on its input and the last attention, and attends to memory with the cell's output as query.

    attention_mechanism: one or several. attention_layer_size or attention_layer: a layer over output and context for
    each; without, the context is the attention. alignment_history: keeps the alignments of all steps. output_attention:
    the output is the attention, else the cell's.
    """

    def __init__(self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False,
                 cell_input_fn=None, output_attention=True, initial_cell_state=None, name=None, attention_layer=None,
                 attention_fn=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = _as_tuple(attention_mechanism)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                what = "must contain only instances of AttentionMechanism" if self._is_multi else \
                    "must be an AttentionMechanism or list of multiple AttentionMechanism instances"
                raise TypeError("attention_mechanism %s, saw type: %s" % (what, type(mechanism).__name__))
        if cell_input_fn is None:
            def cell_input_fn(inputs, attention):
                return array_ops.concat([inputs, attention], -1)
        elif not callable(cell_input_fn):
            raise TypeError("cell_input_fn must be callable, saw type: %s" % type(cell_input_fn).__name__)
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._set_layers(attention_layer_size, attention_layer)
        self._attention_fn = _attend if attention_fn is None else attention_fn
        self._cell_input_fn = cell_input_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with ops.name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                batch_size = known_or_dynamic(nest.flatten(initial_cell_state)[-1], 0)
                message = ("When constructing AttentionWrapper %s: Non-matching batch sizes between the memory "
                           "(encoder output) and initial_cell_state.  " % self._base_name)
                message += _TILE.format("initial state")
                with ops.control_dependencies(self._batch_size_checks(batch_size, message)):
                    self._initial_cell_state = nest.map_structure(
                        lambda s: array_ops.identity(s, name="check_initial_cell_state"), initial_cell_state)

    def _set_layers(self, sizes, layers):
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if sizes is not None:
            sizes = _as_tuple(sizes)
            if len(sizes) != len(mechanisms):
                raise ValueError("If provided, attention_layer_size must contain exactly one integer per "
                                 "attention_mechanism, saw: %d vs %d" % (len(sizes), len(mechanisms)))
            self._attention_layers = tuple(
                layers_core.Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(sizes, mechanisms))
            self._attention_layer_size = sum(sizes)
            return
        if layers is None:
            self._attention_layers = None
            self._attention_layer_size = sum(tensor_shape.dimension_value(m.values.shape[-1]) for m in mechanisms)
            return
        self._attention_layers = _as_tuple(layers)
        if len(self._attention_layers) != len(mechanisms):
            raise ValueError("If provided, attention_layer must contain exactly one layer per attention_mechanism, "
                             "saw: %d vs %d" % (len(self._attention_layers), len(mechanisms)))
        self._attention_layer_size = sum(
            tensor_shape.dimension_value(layer.compute_output_shape(
                [None, self._cell.output_size + tensor_shape.dimension_value(mechanism.values.shape[-1])])[-1])
            for layer, mechanism in zip(self._attention_layers, mechanisms))

    def _batch_size_checks(self, batch_size, message):
        return [check_ops.assert_equal(batch_size, mechanism.batch_size, message=message)
                for mechanism in self._attention_mechanisms]

    def _item_or_tuple(self, items):
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=tensor_shape.TensorShape([]), attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(m.alignments_size if self._alignment_history else ()
                                                  for m in mechanisms))

    def zero_state(self, batch_size, dtype):
        """The state before the first step."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = ("When calling zero_state of AttentionWrapper %s: Non-matching batch sizes between the memory "
                       "(encoder output) and the requested batch size.  Are you using the BeamSearchDecoder?  If so, "
                       "make sure your encoder output has been tiled to beam_width via tf.contrib.seq2seq.tile_batch, "
                       "and the batch_size= argument passed to zero_state is batch_size * beam_width." %
                       self._base_name)
            with ops.control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(lambda s: array_ops.identity(s, name="checked_cell_state"), cell_state)
            mechanisms = self._attention_mechanisms
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state, time=array_ops.zeros([], dtype=dtypes.int32),
                attention=rnn_cell_impl._zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(m.initial_state(batch_size, dtype) for m in mechanisms),
                alignment_history=self._item_or_tuple(
                    tensor_array_ops.TensorArray(dtype, size=0, dynamic_size=True, element_shape=a.shape)
                    if self._alignment_history else () for a in alignments))

    def call(self, inputs, state):
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of AttentionWrapperState. Received type %s instead." %
                            type(state))
        output, next_cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        message = ("When applying AttentionWrapper %s: Non-matching batch sizes between the memory (encoder output) "
                   "and the query (decoder output).  " % self.name) + _TILE.format("memory input")
        with ops.control_dependencies(self._batch_size_checks(known_or_dynamic(output, 0), message)):
            output = array_ops.identity(output, name="checked_cell_output")
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        attentions, alignments, next_states, next_histories = [], [], [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            attention, alignment, next_state = self._attention_fn(
                mechanism, output, states[i], self._attention_layers[i] if self._attention_layers else None)
            next_histories.append(histories[i].write(state.time, alignment) if self._alignment_history else ())
            attentions.append(attention)
            alignments.append(alignment)
            next_states.append(next_state)
        attention = array_ops.concat(attentions, 1)
        following = AttentionWrapperState(
            time=state.time + 1, cell_state=next_cell_state, attention=attention,
            attention_state=self._item_or_tuple(next_states), alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(next_histories))
        return (attention if self._output_attention else output), following
