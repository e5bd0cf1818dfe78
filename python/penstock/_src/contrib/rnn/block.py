"""Recurrent cells of which a step, or a whole sequence of steps, is one op."""
import abc

from penstock._src.graph import dtypes, gen, ops, tensor_shape
from penstock._src.layers import base as base_layer
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.layers.rnn.rnn_cell_impl import LSTMStateTuple, LayerRNNCell
from penstock._src.base.deprecation import deprecated_args


def _add_lstm_variables(layer, input_size, units, peephole):
    """What LSTMCell of the same size has, by the same names; returns the op's weights by the names of its arguments."""
    weights = {"w": layer.add_variable("kernel", [input_size + units, 4 * units]),
               "b": layer.add_variable("bias", [4 * units], initializer=init_ops.constant_initializer(0.0))}
    if peephole:
        for gate in "ifo":
            weights["wc" + gate] = layer.add_variable(f"w_{gate}_diag", [units])
    return weights


def _without_peepholes(units, dtype):
    zeros = array_ops.zeros([units], dtype=dtype)
    return {"wci": zeros, "wcf": zeros, "wco": zeros}


class LSTMBlockCell(LayerRNNCell):
    """LSTMCell of which a step is one op (LSTMBlockCell), with the same variables.

    `cell_clip`: the state stays within its negative and itself; None: not limited.
    """

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None,
                 name="lstm_cell"):
        super().__init__(num_units, None, reuse, name, dtype)
        self._forget_bias, self._use_peephole = forget_bias, use_peephole
        self._cell_clip = cell_clip if cell_clip is not None else -1

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape):
        input_size = tensor_shape.dimension_value(inputs_shape[1])
        if not input_size:
            raise ValueError("Expecting inputs_shape[1] to be set: %s" % str(inputs_shape))
        self._weights = _add_lstm_variables(self, input_size, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        cs_prev, h_prev = state
        weights = self._weights
        if not self._use_peephole:
            weights = {**weights, **_without_peepholes(self._num_units, self.dtype)}
        step = gen.lstm_block_cell(
            x=inputs, cs_prev=cs_prev, h_prev=h_prev, forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole, **weights)
        return step.h, LSTMStateTuple(step.cs, step.h)


class LSTMBlockWrapper(base_layer.Layer, metaclass=abc.ABCMeta):
    """A layer of LSTM cells over a time-major sequence: a subclass says how the sequence is computed."""

    @property
    @abc.abstractmethod
    def num_units(self):
        """How many units the cell has."""

    @abc.abstractmethod
    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        """Runs over `inputs` [time, batch, depth] from states [batch, num_units]; `sequence_length` [batch], or None.

        Returns the states and the outputs of all steps, each [time, batch, num_units].
        """

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        """Runs over a sequence.

        Args:
            inputs: [time, batch, depth], or a list of [batch, depth].
            initial_state: a pair (state, output) of [batch, num_units]; None: zeros of type `dtype`.
            dtype: the type of the state, needed without `initial_state`.
            sequence_length: integers [batch]; outputs beyond are zeros, and the last state is that at the length.

        Returns (outputs, as `inputs` a tensor or a list; LSTMStateTuple of the last state and output).
        Raises ValueError: the depth is not known, or neither `initial_state` nor `dtype` is given.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = array_ops.stack(inputs)
        shape = inputs.shape.with_rank(3)
        if not shape.as_list()[2]:
            raise ValueError("Expecting inputs_shape[2] to be set: %s" % shape)
        time, batch = (known if known is not None else array_ops.shape(inputs)[i]
                       for i, known in enumerate(shape.as_list()[:2]))
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = array_ops.zeros(array_ops.stack([batch, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        elif dtype is None:
            dtype = initial_state[0].dtype
        if sequence_length is not None:
            sequence_length = ops.convert_to_tensor(sequence_length)
        states, outputs = self._call_cell(inputs, *initial_state, dtype, sequence_length)
        if sequence_length is None:
            last = LSTMStateTuple(states[-1], outputs[-1])
        else:
            mask = array_ops.transpose(array_ops.sequence_mask(sequence_length, time, dtype=dtype), [1, 0])
            outputs *= array_ops.expand_dims(mask, -1)
            # With the initial state in front, a length is the place of its last state, also a length of zero.
            places = array_ops.stack([sequence_length, math_ops.range(
                math_ops.cast(batch, sequence_length.dtype))], axis=1)
            last = LSTMStateTuple(*(
                array_ops.gather_nd(array_ops.concat([array_ops.expand_dims(first, 0), steps], 0), places)
                for first, steps in zip(initial_state, (states, outputs))))
        return (array_ops.unstack(outputs) if is_list else outputs), last


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """LSTMCell over a time-major sequence as one op (BlockLSTM), with the same variables."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, reuse=None, dtype=None,
                 name="lstm_fused_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self.input_spec = base_layer.InputSpec(ndim=3)

    @property
    def num_units(self):
        """How many units the cell has."""
        return self._num_units

    def build(self, input_shape):
        input_size = tensor_shape.dimension_value(input_shape[2])
        self._weights = _add_lstm_variables(self, input_size, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(self, inputs, initial_cell_state=None, initial_output=None, dtype=None, sequence_length=None):
        if sequence_length is None:
            time = inputs.shape.as_list()[0]
            longest = array_ops.shape(inputs)[0] if time is None else time
        else:
            longest = math_ops.reduce_max(sequence_length)
        weights = self._weights
        if not self._use_peephole:
            weights = {**weights, **_without_peepholes(self._num_units, dtype)}
        steps = gen.block_lstm(
            seq_len_max=math_ops.cast(longest, dtypes.int64), x=inputs, cs_prev=initial_cell_state,
            h_prev=initial_output, forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole, **weights)
        return steps.cs, steps.h


class GRUBlockCell(LayerRNNCell):
    """GRUCell of which a step is one op (GRUBlockCell); `cell_size` is the old name of `num_units`.

    Raises ValueError unless one of the two is given.
    """
    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    @deprecated_args(None, "cell_size is deprecated, use num_units instead", "cell_size")
    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        super().__init__(cell_size if num_units is None else num_units, None, reuse, name, None)

    def build(self, input_shape):
        input_size, units = tensor_shape.dimension_value(input_shape[1]), self._num_units
        if input_size is None:
            raise ValueError("Expecting input_size to be set.")
        shapes = [input_size + units, 2 * units], [2 * units], [input_size + units, units], [units]
        initial = None, 1.0, None, 0.0
        self._weights = {
            argument: self.add_variable(
                name, shape, initializer=None if value is None else init_ops.constant_initializer(value))
            for argument, name, shape, value in zip(GRUBlockCell._NAMES, self._NAMES, shapes, initial)}
        self.built = True

    def call(self, inputs, h_prev):
        size = h_prev.shape.with_rank(2).as_list()[1]
        if size != self._num_units:
            raise ValueError("Shape of h_prev[1] incorrect: cell_size %i vs %s" % (self._num_units, size))
        new_h = gen.gru_block_cell(x=inputs, h_prev=h_prev, **self._weights).h
        return new_h, new_h


class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell whose variables have GRUCell's names."""
    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
