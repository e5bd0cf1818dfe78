"""Kinds of LSTMs: with coupled gates, with a rhythm, in groups, and with units that are independent of each other."""
from penstock._src.contrib.layers import layers
from penstock._src.contrib.rnn.linear import Linear
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import random_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_cell_impl import LSTMStateTuple, LayerRNNCell, RNNCell

sigmoid, tanh = math_ops.sigmoid, math_ops.tanh


def input_size(inputs, rank=2):
    """The size of the last dimension. ValueError if it, or the rank, is not known."""
    size = tensor_shape.dimension_value(inputs.shape.with_rank(rank)[1])
    if size is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return size


def sharded(name, shape, dtype, shards):
    """A matrix out of variables `name`_0, `name`_1… that hold some of its rows each. ValueError: it has too few."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    rows = [shape[0] // shards + (i < shape[0] % shards) for i in range(shards)]
    parts = [vs.get_variable(f"{name}_{i}", [n, *shape[1:]], dtype=dtype) for i, n in enumerate(rows)]
    if len(parts) == 1:
        return parts[0]
    whole = f"{vs.get_variable_scope().name}/{name}/concat:0"
    for value in ops.get_collection(ops.GraphKeys.CONCATENATED_VARIABLES):
        if value.name == whole:
            return value
    made = array_ops.concat(parts, 0, name=name + "/concat")
    ops.add_to_collection(ops.GraphKeys.CONCATENATED_VARIABLES, made)
    return made


def normalized(gain, shift, inputs, scope):
    """Layer normalization with variables `gamma` and `beta` that begin with these numbers."""
    shape = inputs.shape[-1:]
    with vs.variable_scope(scope):  # layer_norm finds them
        vs.get_variable("gamma", shape=shape, initializer=init_ops.constant_initializer(gain))
        vs.get_variable("beta", shape=shape, initializer=init_ops.constant_initializer(shift))
    return layers.layer_norm(inputs, reuse=True, scope=scope)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM that takes in as much as it forgets (Greff et al., 2015); optionally with peepholes, a projection and
    layer normalization."""

    def __init__(self, num_units, use_peepholes=False, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=1, num_proj_shards=1, forget_bias=1.0, state_is_tuple=True, activation=math_ops.tanh,
                 reuse=None, layer_norm=False, norm_gain=1.0, norm_shift=0.0):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._initializer = num_units, use_peepholes, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple, self._activation = forget_bias, state_is_tuple, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def call(self, inputs, state):
        size, dtype = input_size(inputs), inputs.dtype
        c, m = state if self._state_is_tuple else array_ops.split(state, [self._num_units, self.output_size], 1)
        kernel = sharded("W", [size + self.output_size, 3 * self._num_units], dtype, self._num_unit_shards)
        bias = vs.get_variable("B", shape=[3 * self._num_units], initializer=init_ops.zeros_initializer(), dtype=dtype)
        gates = math_ops.matmul(array_ops.concat([inputs, m], 1), kernel)
        if not self._layer_norm:
            gates = nn_activation.bias_add(gates, bias)
        j, f, o = array_ops.split(value=gates, num_or_size_splits=3, axis=1)
        if self._layer_norm:
            j, f, o = (self._norm(part, scope) for part, scope in ((j, "transform"), (f, "forget"), (o, "output")))
        f = f + self._forget_bias
        if self._use_peepholes:
            of_f = vs.get_variable("W_F_diag", shape=[self._num_units], dtype=dtype)
            of_o = vs.get_variable("W_O_diag", shape=[self._num_units], dtype=dtype)
            f = f + of_f * c
        f = sigmoid(f)
        c = f * c + (1 - f) * self._activation(j)
        if self._layer_norm:
            c = self._norm(c, "state")
        m = sigmoid(o + of_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            m = math_ops.matmul(m, sharded("W_P", [self._num_units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                m = clip_ops.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else array_ops.concat([c, m], 1)

    def _norm(self, inputs, scope):
        return normalized(self._norm_gain, self._norm_shift, inputs, scope)


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units change in a part of a period of their own only (Neil et al., 2016). Its inputs are (time,
    features), of shapes [batch, 1] and [batch, features]."""

    def __init__(self, num_units, use_peepholes=False, leak=0.001, ratio_on=0.1, trainable_ratio_on=True,
                 period_init_min=1.0, period_init_max=1000.0, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period_range = period_init_min, period_init_max
        self._linear = {}

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _map(self, scope, args, width):
        with vs.variable_scope(scope):
            if scope not in self._linear:
                self._linear[scope] = Linear(args, width)
            return self._linear[scope](args)

    def _random_period(self, shape, dtype, partition_info=None):
        low, high = (gen.log(x) for x in self._period_range)
        return gen.exp(random_ops.random_uniform(shape, low, high, dtype))

    def call(self, inputs, state):
        c, h = state
        time, x = inputs
        gates = sigmoid(self._map("mask_gates", [x, h, c] if self._use_peepholes else [x, h], 2 * self._num_units))
        taken, kept = array_ops.split(axis=1, num_or_size_splits=2, value=gates)
        new_c = c * kept + taken * tanh(self._map("new_input", [x, h], self._num_units))
        given = sigmoid(self._map("output_gate", [x, h, new_c] if self._use_peepholes else [x, h], self._num_units))
        new_h = tanh(new_c) * given

        period = vs.get_variable("period", [self._num_units], initializer=self._random_period)
        phase = vs.get_variable("phase", [self._num_units],
                                initializer=init_ops.random_uniform_initializer(0., period.initial_value))
        ratio_on = vs.get_variable("ratio_on", [self._num_units], trainable=self._trainable_ratio_on,
                                   initializer=init_ops.constant_initializer(self._ratio_on))
        within = self._within_period(time, phase, period)
        rising = 2 * within / ratio_on
        openness = array_ops.where(within < ratio_on, 2 - rising, self._leak * within)
        openness = array_ops.where(within < 0.5 * ratio_on, rising, openness)
        new_c = openness * new_c + (1 - openness) * c
        new_h = openness * new_h + (1 - openness) * h
        return new_h, LSTMStateTuple(new_c, new_h)

    @staticmethod
    def _within_period(time, phase, period):
        """How much of its period has passed; computed in the time's type, its gradient that of time / period."""
        period = math_ops.cast(period, time.dtype)
        shifted = time - math_ops.cast(phase, time.dtype)
        rest = gen.stop_gradient(gen.floor_mod(shifted, period) - shifted) + shifted
        return math_ops.cast(rest / period, "float32")


class ProjectedLSTMCell(RNNCell):
    """An LSTM of `_num_units` whose output is projected to `_num_proj` numbers if that is given."""

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_proj or self._num_units


class GLSTMCell(ProjectedLSTMCell):
    """An LSTM of groups that do not see each other's inputs (Kuchaiev and Ginsburg, 2017)."""

    def __init__(self, num_units, initializer=None, num_proj=None, number_of_groups=1, forget_bias=1.0,
                 activation=math_ops.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._num_proj = num_units, initializer, num_proj
        self._forget_bias, self._activation, self._groups = forget_bias, activation, number_of_groups
        if num_units % number_of_groups != 0:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups != 0:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._of_group, self._projection = [None] * number_of_groups, None

    def call(self, inputs, state):
        c, m = state
        size = tensor_shape.dimension_value(inputs.shape[1])
        if size is None:
            raise ValueError("input size must be statically known")
        if size % self._groups != 0:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups ({self._groups})")
        groups = [array_ops.split(x, self._groups, 1) for x in (inputs, m)]
        parts = []
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            for i, (x, h) in enumerate(zip(*groups)):
                with vs.variable_scope(f"group{i}"):
                    both = array_ops.concat([x, h], axis=1)
                    if self._of_group[i] is None:
                        self._of_group[i] = Linear(both, 4 * self._num_units // self._groups, False)
                    parts.append(array_ops.split(self._of_group[i](both), 4, 1))
            zeros = init_ops.constant_initializer(0.0, dtype=inputs.dtype)
            biases = [vs.get_variable(f"bias_{gate}", [self._num_units], dtype=inputs.dtype, initializer=zeros)
                      for gate in "ijfo"]
            i, j, f, o = (nn_activation.bias_add(array_ops.concat(gate, axis=1), bias)
                          for gate, bias in zip(zip(*parts), biases))
        c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with vs.variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)


class _IndependentCell(LayerRNNCell):
    """Units of which each sees its own state only: a vector stands for the recurrent matrix."""

    def __init__(self, num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _of_inputs(self, name, depth, count):
        return self.add_variable(name, shape=[depth, count * self._num_units], initializer=self._kernel_initializer)

    def _of_state(self, name, count):
        return self.add_variable(name, shape=[1, count * self._num_units], initializer=(
            init_ops.random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype)))

    def _bias_of(self, name, count, value):
        return self.add_variable(name, shape=[count * self._num_units], initializer=(
            self._bias_initializer or init_ops.constant_initializer(value, dtype=self.dtype)))


class IndyGRUCell(_IndependentCell):
    """A GRU of independent units (Gonnet and Deselaers, 2019)."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None):
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)

    def build(self, inputs_shape):
        depth = self._input_depth(inputs_shape)
        self._gate_w = self._of_inputs("gates/kernel_w", depth, 2)
        self._gate_u = self._of_state("gates/kernel_u", 2)
        self._gate_bias = self._bias_of("gates/bias", 2, 1.0)
        self._candidate_w = self._of_inputs("candidate/kernel", depth, 1)
        self._candidate_u = self._of_state("candidate/kernel_u", 1)
        self._candidate_bias = self._bias_of("candidate/bias", 1, 0.0)
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(inputs, self._gate_w) + gen.tile(state, [1, 2]) * self._gate_u
        gates = sigmoid(nn_activation.bias_add(gates, self._gate_bias))
        r, u = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = math_ops.matmul(inputs, self._candidate_w) + r * state * self._candidate_u
        new_h = u * state + (1 - u) * self._activation(nn_activation.bias_add(candidate, self._candidate_bias))
        return new_h, new_h


class IndyLSTMCell(_IndependentCell):
    """An LSTM of independent units (Gonnet and Deselaers, 2019)."""

    def __init__(self, num_units, forget_bias=1.0, activation=None, reuse=None, kernel_initializer=None,
                 bias_initializer=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape):
        depth = self._input_depth(inputs_shape)
        self._kernel_w = self._of_inputs("kernel_w", depth, 4)
        self._kernel_u = self._of_state("kernel_u", 4)
        self._bias = self._bias_of("bias", 4, 0.0)
        self.built = True

    def call(self, inputs, state):
        c, h = state
        gates = math_ops.matmul(inputs, self._kernel_w) + gen.tile(h, [1, 4]) * self._kernel_u
        i, j, f, o = array_ops.split(value=nn_activation.bias_add(gates, self._bias), num_or_size_splits=4, axis=1)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)
