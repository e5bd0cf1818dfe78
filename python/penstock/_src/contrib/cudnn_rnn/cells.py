"""Cells with the variables and the arithmetic of cuDNN's networks, for running on the CPU what was trained by these."""
from penstock._src.contrib.rnn.block import LSTMBlockCell
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.layers.rnn import rnn_cell_impl

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"
CUDNN_LSTM_PARAMS_PER_LAYER, CUDNN_GRU_PARAMS_PER_LAYER = 8, 6
CUDNN_RNN_TANH_PARAMS_PER_LAYER = CUDNN_RNN_RELU_PARAMS_PER_LAYER = 2


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTMBlockCell without forget bias, clipping and peepholes."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(rnn_cell_impl.GRUCell):
    """A GRU whose reset gate acts behind the product of state and weights, which has a bias of its own."""

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape):
        depth, units = self._input_depth(inputs_shape), self._num_units
        ones = self._bias_initializer or init_ops.constant_initializer(1.0, dtype=self.dtype)
        zeros = self._bias_initializer or init_ops.zeros_initializer(dtype=self.dtype)
        self._gate_kernel = self._kernel("gates", depth + units, 2 * units)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * units], initializer=ones)
        self._candidate_input_kernel = self._kernel("candidate/input_projection", depth, units)
        self._candidate_hidden_kernel = self._kernel("candidate/hidden_projection", units, units)
        self._candidate_input_bias = self.add_variable("candidate/input_projection/bias", shape=[units],
                                                       initializer=zeros)
        self._candidate_hidden_bias = self.add_variable("candidate/hidden_projection/bias", shape=[units],
                                                        initializer=zeros)
        self.built = True

    def _kernel(self, name, rows, columns):
        return self.add_variable(name + "/kernel", shape=[rows, columns], initializer=self._kernel_initializer)

    def call(self, inputs, state):
        gates = nn_activation.bias_add(math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel),
                                       self._gate_bias)
        r, u = array_ops.split(value=math_ops.sigmoid(gates), num_or_size_splits=2, axis=1)
        candidate = nn_activation.bias_add(math_ops.matmul(inputs, self._candidate_input_kernel),
                                           self._candidate_input_bias)
        candidate += r * nn_activation.bias_add(math_ops.matmul(state, self._candidate_hidden_kernel),
                                                self._candidate_hidden_bias)
        new_h = (1 - u) * self._activation(candidate) + u * state
        return new_h, new_h
