"""Decoding: a loop in which a Decoder makes each step's output and next input."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.control_flow import tensor_array_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_dynamic import transpose_batch_time, cache_variables
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import nest

_transpose_batch_time = transpose_batch_time  # the name that other decoders import


class Decoder(object):
    """What dynamic_decode calls. Subclasses define batch_size, output_size, output_dtype, initialize and step."""

    @property
    def batch_size(self):
        """How many sequences are decoded."""
        raise NotImplementedError

    @property
    def output_size(self):
        """Sizes of what each step gives, as a structure."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """Types of what each step gives, as a structure."""
        raise NotImplementedError

    def initialize(self, name=None):
        """(which sequences have ended, first inputs, first state)."""
        raise NotImplementedError

    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, which sequences have ended)."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """What becomes of (outputs, state) behind the loop."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `step` says anew which sequences have ended, instead of which ended in it."""
        return False


def _zero_outputs(decoder):
    return nest.map_structure(lambda size, dtype: rnn_cell_impl._zero_state_tensors(size, decoder.batch_size, dtype),
                              decoder.output_size, decoder.output_dtype)


def _arrays(decoder):
    """A TensorArray for each output."""
    def element_shape(size):
        if not isinstance(size, tensor_shape.TensorShape) or size.ndims == 0:
            return None
        batch = tensor_util.constant_value(ops.convert_to_tensor(decoder.batch_size, name="batch_size"))
        return tensor_shape.TensorShape([batch]).concatenate(size)

    return nest.map_structure(
        lambda size, dtype: tensor_array_ops.TensorArray(dtype=dtype, size=0, dynamic_size=True,
                                                         element_shape=element_shape(size)),
        decoder.output_size, decoder.output_dtype)


def _next_state(new, old, finished):
    """The new state, but the old one of sequences that have ended."""
    if isinstance(old, tensor_array_ops.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else array_ops.where(finished, old, new)


def dynamic_decode(decoder, output_time_major=False, impute_finished=False, maximum_iterations=None,
                   parallel_iterations=32, swap_memory=False, scope=None):
    """Steps of `decoder` until all sequences have ended: (outputs, last state, lengths of the sequences).

    impute_finished: sequences that have ended give zeros and keep their state. output_time_major: the outputs are
    [time, batch, ...] instead of [batch, time, ...].
    """
    if not isinstance(decoder, Decoder):
        raise TypeError("Expected decoder to be type Decoder, but saw: %s" % type(decoder))
    with vs.variable_scope(scope, "decoder") as varscope:
        cache_variables(varscope)
        if maximum_iterations is not None:
            maximum_iterations = ops.convert_to_tensor(maximum_iterations, dtype=dtypes.int32,
                                                       name="maximum_iterations")
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        zeros = _zero_outputs(decoder)
        if maximum_iterations is not None:
            finished = gen.logical_or(finished, 0 >= maximum_iterations)
        lengths = array_ops.zeros_like(finished, dtype=dtypes.int32)
        time = constant_op.constant(0, dtype=dtypes.int32)

        def condition(time, arrays, state, inputs, finished, lengths):
            return gen.logical_not(math_ops.reduce_all(finished))

        def body(time, arrays, state, inputs, finished, lengths):
            outputs, new_state, new_inputs, new_finished = decoder.step(time, inputs, state)
            if not decoder.tracks_own_finished:
                new_finished = gen.logical_or(new_finished, finished)
            new_lengths = array_ops.where(gen.logical_not(finished),
                                          array_ops.fill(array_ops.shape(lengths), time + 1), lengths)
            nest.assert_same_structure(state, new_state)
            nest.assert_same_structure(arrays, outputs)
            nest.assert_same_structure(inputs, new_inputs)
            if impute_finished:
                outputs = nest.map_structure(lambda out, zero: array_ops.where(finished, zero, out), outputs, zeros)
                new_state = nest.map_structure(lambda new, old: _next_state(new, old, finished), new_state, state)
            arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
            return time + 1, arrays, new_state, new_inputs, new_finished, new_lengths

        result = while_loop(condition, body, loop_vars=(time, _arrays(decoder), state, inputs, finished, lengths),
                            parallel_iterations=parallel_iterations, maximum_iterations=maximum_iterations,
                            swap_memory=swap_memory)
        arrays, state, lengths = result[1], result[2], result[5]
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths
