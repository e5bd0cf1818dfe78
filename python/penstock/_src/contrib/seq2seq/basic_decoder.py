"""The decoder that calls a cell and lets a Helper choose the next input."""
import collections

from penstock._src.contrib.seq2seq import decoder
from penstock._src.contrib.seq2seq import helper as helper_py
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.layers import base as layers_base
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.base import nest


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a step gives: the cell's output and the helper's sample."""


def cell_output_size(cell, output_layer):
    """The size of a cell's output behind a layer that may follow it."""
    size = cell.output_size
    if output_layer is None:
        return size
    # The layer counts the dimensions of a batch too.
    shapes = nest.map_structure(lambda s: tensor_shape.TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: s[1:], output_layer.compute_output_shape(shapes))


class BasicDecoder(decoder.Decoder):
    """Calls `cell` on what `helper` chooses; `output_layer` follows the cell."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        if not isinstance(helper, helper_py.Helper):
            raise TypeError("helper must be a Helper, received: %s" % type(helper))
        if output_layer is not None and not isinstance(output_layer, layers_base.Layer):
            raise TypeError("output_layer must be a Layer, received: %s" % type(output_layer))
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self):
        return self._helper.batch_size

    @property
    def output_size(self):
        return BasicDecoderOutput(rnn_output=cell_output_size(self._cell, self._output_layer),
                                  sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        size = cell_output_size(self._cell, self._output_layer)
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, size), self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with ops.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, new_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            samples = self._helper.sample(time=time, outputs=outputs, state=new_state)
            finished, next_inputs, next_state = self._helper.next_inputs(time=time, outputs=outputs, state=new_state,
                                                                         sample_ids=samples)
        return BasicDecoderOutput(outputs, samples), next_state, next_inputs, finished
