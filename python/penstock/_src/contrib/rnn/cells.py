"""Cells of recurrent networks beyond the usual ones."""
from penstock._src.contrib.layers import layers
from penstock._src.contrib.rnn.linear import Linear
from penstock._src.graph import gen
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation, nn_conv
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_cell_impl import LSTMStateTuple, LayerRNNCell, RNNCell

sigmoid, tanh = math_ops.sigmoid, math_ops.tanh


def _known_size(inputs):
    size = inputs.shape.with_rank(2).as_list()[1]
    if size is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return size


class NASCell(LayerRNNCell):
    """The cell that neural architecture search found (Zoph and Le, 2016), optionally with a projection."""

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, None, reuse, name, dtype, **kwargs)
        self._num_proj, self._use_bias = num_proj, use_bias

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape):
        depth = tensor_shape.dimension_value(tensor_shape.TensorShape(inputs_shape).with_rank(2)[1])
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        width = 8 * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = self.add_variable("kernel", [depth, width])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[width], initializer=init_ops.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c, m = state
        of_state, of_inputs = math_ops.matmul(m, self.recurrent_kernel), math_ops.matmul(inputs, self.kernel)
        if self._use_bias:
            of_state = nn_activation.bias_add(of_state, self.bias)
        a, b = (array_ops.split(axis=1, num_or_size_splits=8, value=x) for x in (of_inputs, of_state))
        first = [sigmoid(a[0] + b[0]), gen.relu(a[1] + b[1]), sigmoid(a[2] + b[2]), gen.relu(a[3] * b[3]),
                 tanh(a[4] + b[4]), sigmoid(a[5] + b[5]), tanh(a[6] + b[6]), sigmoid(a[7] + b[7])]
        second = [tanh(tanh(first[0] * first[1]) + c), tanh(first[2] + first[3]), tanh(first[4] * first[5]),
                  sigmoid(first[6] + first[7])]
        new_c = second[0] * second[1]
        new_m = tanh(new_c * tanh(second[2] + second[3]))
        if self._num_proj is not None:
            new_m = math_ops.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


class _UnitsCell(RNNCell):
    """One whose state and output are both of `_num_units` numbers."""

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units


class UGRNNCell(_UnitsCell):
    """One gate decides whether a unit integrates or computes (Collins et al., 2016)."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=math_ops.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation
        self._linear = None

    def call(self, inputs, state):
        _known_size(inputs)
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            both = array_ops.concat([inputs, state], 1)
            self._linear = self._linear or Linear(both, 2 * self._num_units)
            gate, candidate = array_ops.split(axis=1, num_or_size_splits=2, value=self._linear(both))
            gate = sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * self._activation(candidate)
        return new_state, new_state


class IntersectionRNNCell(_UnitsCell):
    """A recurrent highway in time and a highway through the layer (Collins et al., 2016)."""

    def __init__(self, num_units, num_in_proj=None, initializer=None, forget_bias=1.0, y_activation=gen.relu,
                 reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj = num_units, num_in_proj
        self._initializer, self._forget_bias, self._y_activation = initializer, forget_bias, y_activation
        self._projection = self._linear = None

    def call(self, inputs, state):
        size, units = _known_size(inputs), self._num_units
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            if size != units:
                if not self._num_in_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                                     "should be set to num_units at cell init.")
                with vs.variable_scope("in_projection"):
                    self._projection = self._projection or Linear(inputs, units)
                    inputs = self._projection(inputs)
            both = array_ops.concat([inputs, state], 1)
            self._linear = self._linear or Linear(both, 4 * units)
            made = self._linear(both)
            h_gate, h, y_gate, y = (made[:, i * units:(i + 1) * units] for i in range(4))
            h_gate, y_gate = sigmoid(h_gate + self._forget_bias), sigmoid(y_gate + self._forget_bias)
            new_state = h_gate * state + (1.0 - h_gate) * tanh(h)
            return y_gate * inputs + (1.0 - y_gate) * self._y_activation(y), new_state


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM whose gates are normalised (Ba et al., 2016), with dropout of the candidates (Semeniuta et al., 2016)."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=math_ops.tanh, layer_norm=True,
                 norm_gain=1.0, norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _normalised(self, value, scope):
        if not self._layer_norm:
            return value
        shape = value.shape[-1:]
        with vs.variable_scope(scope):
            for name, initial in (("gamma", self._norm_gain), ("beta", self._norm_shift)):
                vs.get_variable(name, shape=shape, initializer=init_ops.constant_initializer(initial),
                                dtype=value.dtype)
        return layers.layer_norm(value, reuse=True, scope=scope)

    def call(self, inputs, state):
        c, h = state
        both = array_ops.concat([inputs, h], 1)
        width = 4 * self._num_units
        gates = math_ops.matmul(both, vs.get_variable("kernel", [both.shape[-1], width], dtype=both.dtype))
        if not self._layer_norm:
            gates = nn_activation.bias_add(gates, vs.get_variable("bias", [width], dtype=both.dtype))
        i, j, f, o = (self._normalised(part, scope) for part, scope in zip(
            array_ops.split(value=gates, num_or_size_splits=4, axis=1), ("input", "transform", "forget", "output")))
        candidate = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            candidate = nn_activation.dropout(candidate, self._keep_prob, seed=self._seed)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * candidate
        new_c = self._normalised(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(LayerRNNCell):
    """A simple recurrent unit: its state is multiplied by no matrix (Lei et al., 2017)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, inputs_shape):
        self._kernel = self.add_variable("kernel", shape=[self._input_depth(inputs_shape), 4 * self._num_units])
        self._bias = self.add_variable("bias", shape=[2 * self._num_units], initializer=init_ops.zeros_initializer)
        self.built = True

    def call(self, inputs, state):
        candidate, f, r, skipped = array_ops.split(value=math_ops.matmul(inputs, self._kernel), num_or_size_splits=4,
                                                   axis=1)
        gates = sigmoid(nn_activation.bias_add(array_ops.concat([f, r], 1), self._bias))
        f, r = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * candidate
        return r * self._activation(c) + (1.0 - r) * skipped, c


class IndRNNCell(LayerRNNCell):
    """Units that see of the state only themselves (Li et al., 2018)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape):
        self._kernel = self.add_variable("kernel_w", shape=[self._input_depth(inputs_shape), self._num_units])
        self._diagonal = self.add_variable(
            "kernel_u", shape=[1, self._num_units],
            initializer=init_ops.random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype))
        self._bias = self.add_variable("bias", shape=[self._num_units],
                                       initializer=init_ops.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(inputs, self._kernel) + state * self._diagonal
        output = self._activation(nn_activation.bias_add(gates, self._bias))
        return output, output


class ConvLSTMCell(RNNCell):
    """An LSTM over images: convolutions instead of products (Shi et al., 2015)."""

    def __init__(self, conv_ndims, input_shape, output_channels, kernel_shape, use_bias=True, skip_connection=False,
                 forget_bias=1.0, initializers=None, name="conv_lstm_cell"):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._ndims, self._channels, self._kernel_shape = conv_ndims, output_channels, list(kernel_shape)
        self._use_bias, self._skip, self._forget_bias = use_bias, skip_connection, forget_bias
        places = list(input_shape[:-1])
        size = tensor_shape.TensorShape(places + [output_channels])
        self._state_size = LSTMStateTuple(size, size)
        self._output_size = tensor_shape.TensorShape(
            places + [output_channels + (input_shape[-1] if skip_connection else 0)])

    @property
    def state_size(self):
        return self._state_size

    @property
    def output_size(self):
        return self._output_size

    def _gates(self, values):
        both = array_ops.concat(values, axis=self._ndims + 1)
        depth, width = both.shape.as_list()[-1], 4 * self._channels
        kernel = vs.get_variable("kernel", self._kernel_shape + [depth, width], dtype=both.dtype)
        convolve = (nn_conv.conv1d, nn_conv.conv2d, gen.conv3d)[self._ndims - 1]
        made = convolve(both, kernel, 1 if self._ndims == 1 else [1] * (self._ndims + 2), padding="SAME")
        if self._use_bias:
            made = made + vs.get_variable("biases", [width], dtype=both.dtype,
                                          initializer=init_ops.constant_initializer(0.0, dtype=both.dtype))
        return array_ops.split(value=made, num_or_size_splits=4, axis=self._ndims + 1)

    def call(self, inputs, state):
        c, h = state
        i, j, f, o = self._gates([inputs, h])
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        output = tanh(new_c) * sigmoid(o)
        if self._skip:
            output = array_ops.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_c, output)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over sequences."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over images."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over volumes."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
