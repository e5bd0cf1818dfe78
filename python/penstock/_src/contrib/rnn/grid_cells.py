"""LSTMs that run over the frequencies of each step's inputs as well as over time."""
import collections

from penstock._src.contrib.rnn.lstm_cells import sharded
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_cell_impl import RNNCell

sigmoid, tanh = math_ops.sigmoid, math_ops.tanh


def _size_of_inputs(inputs):
    size = tensor_shape.dimension_value(inputs.shape.with_rank(2)[1])
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


def _windows(inputs, begin, count, size, skip):
    return [array_ops.slice(inputs, [0, begin + i * skip], [-1, size]) for i in range(count)]


def _clipped(c, limit):
    return c if limit is None else clip_ops.clip_by_value(c, -limit, limit)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that reads windows of `feature_size` inputs, `frequency_skip` apart, one after the other (Sainath and Li,
    2016). Its state is what all windows have left: [batch, 2 * windows * num_units]."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_unit_shards=1,
                 forget_bias=1.0, feature_size=None, frequency_skip=1, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_unit_shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip

    @property
    def state_size(self):
        return 2 * self._num_units

    @property
    def output_size(self):
        return self._num_units

    def call(self, inputs, state):
        count = (_size_of_inputs(inputs) - self._feature_size) // self._frequency_skip + 1
        windows = _windows(inputs, 0, count, self._feature_size, self._frequency_skip)
        units, dtype = self._num_units, inputs.dtype
        kernel = sharded("W", [windows[0].shape.as_list()[1] + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = vs.get_variable("B", shape=[4 * units], initializer=init_ops.zeros_initializer(), dtype=dtype)
        of = {gate: vs.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype)
              for gate in ("FIO" if self._use_peepholes else "")}

        def gate(name, value, c):
            return sigmoid(value + of[name] * c if of else value)

        before = array_ops.zeros([inputs.shape.dims[0].value or inputs.shape[0], units], dtype)
        outputs, states = [], []
        for i, window in enumerate(windows):
            c, m = (array_ops.slice(state, [0, (2 * i + k) * units], [-1, units]) for k in range(2))
            joined = array_ops.concat([window, m, before], 1)
            take, new, forget, give = array_ops.split(
                value=nn_activation.bias_add(math_ops.matmul(joined, kernel), bias), num_or_size_splits=4, axis=1)
            c = _clipped(gate("F", forget + self._forget_bias, c) * c + gate("I", take, c) * tanh(new), self._cell_clip)
            before = gate("O", give, c) * tanh(c)
            outputs.append(before)
            states += [c, before]
        return array_ops.concat(outputs, 1), array_ops.concat(states, 1)


class GridLSTMCell(RNNCell):
    """An LSTM over time beside one over the windows of each step's inputs (Kalchbrenner et al., 2016).

    `num_frequency_blocks` has the number of windows of each block of inputs, which begin and end where
    `start_freqindex_list` and `end_freqindex_list` say. The state is a named tuple of both states of each window, or a
    tensor of them side by side. ValueError: blocks and windows do not fit.
    """

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
                 couple_input_forget_gates=False, state_is_tuple=True, reuse=None):
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._shared, self._coupled = share_time_frequency_weights, couple_input_forget_gates
        self._initializer, self._num_unit_shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._blocks, self._starts, self._ends = num_frequency_blocks, start_freqindex_list, end_freqindex_list
        self._state_is_tuple = state_is_tuple
        self._state_tuple_type = self._tuple_type("GridLSTMStateTuple", ["state"]) if state_is_tuple else None

    def _tuple_type(self, name, prefixes):
        return collections.namedtuple(name, [
            f"{prefix}_f{i:02d}_b{block:02d}_{part}" for prefix in prefixes
            for block, count in enumerate(self._blocks) for i in range(count) for part in "cm"])

    @property
    def state_size(self):
        if self._state_is_tuple:
            return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))
        return 2 * self._num_units * sum(self._blocks)

    @property
    def output_size(self):
        return 2 * self._num_units * sum(self._blocks)

    @property
    def state_tuple_type(self):
        """The type of the state; None if it is a tensor."""
        return self._state_tuple_type

    def call(self, inputs, state):
        outputs, states = self._run(self._features(inputs), state, "state")
        made = self._state_tuple_type(*states) if self._state_is_tuple else array_ops.concat(states, 1)
        return array_ops.concat(outputs, 1), made

    def _run(self, features, state, prefix):
        """(outputs, new states) of all blocks."""
        outputs, states = [], []
        for block, windows in enumerate(features):
            more, new = self._compute(windows, block, state, prefix)
            outputs += more
            states += new
        return outputs, states

    def _features(self, inputs, offset=0):
        """The windows of each block; with an offset they begin as much later, in inputs that zeros continue."""
        size = _size_of_inputs(inputs)
        if offset:
            inputs = array_ops.pad(inputs, [[0, 0], [max(0, -offset), max(0, offset)]])
            offset = max(0, offset)
        if not self._starts:
            if len(self._blocks) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(self._blocks)}")
            ranges = [(0, size)]
        else:
            if len(self._starts) != len(self._ends):
                raise ValueError("Length of start and end freqindex_list does not match "
                                 f"{len(self._starts)} {len(self._ends)}")
            if len(self._blocks) != len(self._starts):
                raise ValueError("Length of num_frequency_blocks is not equal to start_freqindex_list "
                                 f"{len(self._blocks)} {len(self._starts)}")
            ranges = zip(self._starts, self._ends)
        features = []
        for wanted, (begin, end) in zip(self._blocks, ranges):
            count = int((end - begin - self._feature_size) / self._frequency_skip) + 1
            if count != wanted:
                raise ValueError(f"Invalid num_frequency_blocks, requires {wanted} but gets {count}, please check the "
                                 "input size and filter config are correct.")
            features.append(_windows(inputs, begin + offset, count, self._feature_size, self._frequency_skip))
        return features

    def _weights(self, direction, block, rows, dtype):
        """(kernel, bias) of the LSTM over frequencies ("f") or time ("t")."""
        columns = (3 if self._coupled else 4) * self._num_units
        return (sharded(f"W_{direction}_{block}", [rows, columns], dtype, self._num_unit_shards),
                vs.get_variable(f"B_{direction}_{block}", shape=[columns], initializer=init_ops.zeros_initializer(),
                                dtype=dtype))

    def _peepholes(self, direction, block, dtype):
        """{gate: what it sees of the state over frequencies, and of that over time}."""
        if not self._use_peepholes:
            return {}
        return {gate: [vs.get_variable(f"W_{gate}_diag_{direction}{side}_{block}", shape=[self._num_units], dtype=dtype)
                       for side in "ft"]
                for gate in ("IO" if self._coupled else "FIO")}

    def _compute(self, windows, block, state, prefix):
        """(outputs, new states) of a block: over time and frequencies, and cell and output over time, by window."""
        units, dtype = self._num_units, windows[0].dtype
        rows = windows[0].shape.as_list()[1] + 2 * units
        weights = [self._weights("f", block, rows, dtype)]
        if not self._shared:
            weights.append(self._weights("t", block, rows, dtype))
        seen = [self._peepholes("freq", block, dtype)]
        seen.append(seen[0] if self._shared else self._peepholes("time", block, dtype))
        batch = tensor_shape.dimension_value(windows[0].shape[0])
        zeros = array_ops.zeros([array_ops.shape(windows[0])[0] if batch is None else batch, units], dtype)
        m_freq = c_freq = zeros
        outputs, states = [], []
        for i, window in enumerate(windows):
            if self._state_is_tuple:
                c_time, m_time = (getattr(state, f"{prefix}_f{i:02d}_b{block:02d}_{part}") for part in "cm")
            else:
                c_time, m_time = (array_ops.slice(state, [0, (2 * i + k) * units], [-1, units]) for k in range(2))
            joined = array_ops.concat([window, m_time, m_freq], 1)
            gates = [array_ops.split(value=nn_activation.bias_add(math_ops.matmul(joined, kernel), bias),
                                     num_or_size_splits=3 if self._coupled else 4, axis=1) for kernel, bias in weights]
            gates = (gates * 2)[:2]  # those over frequencies, those over time
            before = (c_freq, c_time)
            c_freq, c_time = (self._cell(*each, before) for each in zip(gates, seen, before))
            m_freq, m_time = (sigmoid(self._with("O", gate[-1], peepholes, (c_freq, c_time))) * tanh(c)
                              for gate, peepholes, c in zip(gates, seen, (c_freq, c_time)))
            outputs += [m_time, m_freq]
            states += [c_time, m_time]
        return outputs, states

    @staticmethod
    def _with(gate, value, peepholes, cells):
        for weight, c in zip(peepholes.get(gate, ()), cells):
            value = value + weight * c
        return value

    def _cell(self, gates, peepholes, c, cells):
        """The new cell of one direction; `cells` are those of both before."""
        take = sigmoid(self._with("I", gates[0], peepholes, cells))
        if self._coupled:
            keep = 1.0 - take
        else:
            keep = sigmoid(self._with("F", gates[2] + self._forget_bias, peepholes, cells))
        return _clipped(keep * c + take * tanh(gates[1]), self._cell_clip)


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A GridLSTMCell that runs over the windows in both directions, with weights for each; those of the way back begin
    `backward_slice_offset` later."""

    def __init__(self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None,
                 initializer=None, num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None,
                 num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
                 couple_input_forget_gates=False, backward_slice_offset=0, reuse=None):
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
                         num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
                         start_freqindex_list, end_freqindex_list, couple_input_forget_gates, True, reuse)
        self._backward_slice_offset = int(backward_slice_offset)
        self._state_tuple_type = self._tuple_type("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])

    @property
    def output_size(self):
        return 2 * super().output_size

    def call(self, inputs, state):
        forward = self._features(inputs)
        back = self._features(inputs, self._backward_slice_offset) if self._backward_slice_offset else forward
        with vs.variable_scope("fwd"):
            outputs, states = self._run(forward, state, "fwd_state")
        with vs.variable_scope("bwd"):
            more, new = self._run([windows[::-1] for windows in back], state, "bwd_state")
        return array_ops.concat(outputs + more, 1), self._state_tuple_type(*states, *new)
