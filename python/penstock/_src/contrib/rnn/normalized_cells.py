"""LSTMs with layer normalization of the gates, and with normalized weights."""
from penstock._src.contrib.rnn.linear import Linear
from penstock._src.contrib.rnn.lstm_cells import ProjectedLSTMCell, input_size, normalized
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_cell_impl import LSTMStateTuple

sigmoid = math_ops.sigmoid


class _NormalizedLSTMCell(ProjectedLSTMCell):
    """What both have in common: peepholes, clipping and a projection. `_linear` and `_norm` differ."""

    def __init__(self, num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation,
                 reuse):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, activation or math_ops.tanh

    def _norm(self, value, scope):
        return value

    def _step(self, inputs, state):
        c, m = state
        gates = array_ops.split(value=self._linear([inputs, m], 4 * self._num_units), num_or_size_splits=4, axis=1)
        i, j, f, o = (self._norm(gate, scope) for gate, scope in zip(gates, ("input", "transform", "forget", "output")))
        of = {name: vs.get_variable(f"w_{name}_diag", shape=[self._num_units], dtype=inputs.dtype)
              for name in ("fio" if self._use_peepholes else "")}

        def gate(name, value, cell):
            return sigmoid(value + of[name] * cell if of else value)

        c = gate("f", f + self._forget_bias, c) * c + gate("i", i, c) * self._activation(j)
        c = self._norm(c, "state")
        if self._cell_clip is not None:
            c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = gate("o", o, c) * self._activation(c)
        if self._num_proj is not None:
            with vs.variable_scope("projection"):
                m = self._linear([m], self._num_proj, bias=False)
            if self._proj_clip is not None:
                m = clip_ops.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m)


class LayerNormLSTMCell(_NormalizedLSTMCell):
    """An LSTM whose gates and cells are normalized over their units, if `layer_norm` (Ba et al., 2016)."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 forget_bias=1.0, activation=None, layer_norm=False, norm_gain=1.0, norm_shift=0.0, reuse=None):
        super().__init__(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation,
                         reuse)
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def call(self, inputs, state):
        input_size(inputs)
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            return self._step(inputs, state)

    def _linear(self, args, output_size, bias=True):
        # What is normalized has no use for a bias, but there is one.
        return Linear(args, output_size, build_bias=bias, add_bias=not self._layer_norm)(args)

    def _norm(self, value, scope):
        return normalized(self._norm_gain, self._norm_shift, value, scope) if self._layer_norm else value


class WeightNormLSTMCell(_NormalizedLSTMCell):
    """An LSTM whose kernels' columns have lengths that are variables of their own, if `norm` (Salimans and Kingma,
    2016)."""

    def __init__(self, num_units, norm=True, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
                 proj_clip=None, forget_bias=1, activation=None, reuse=None):
        super().__init__(num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation,
                         reuse)
        self._normalizes = norm
        self._scope = "wn_lstm_cell"  # all such cells have one name

    def call(self, inputs, state):
        input_size(inputs)
        with vs.variable_scope("wn_lstm_cell", initializer=self._initializer):
            return self._step(inputs, state)

    def _linear(self, args, output_size, bias=True):
        sizes = [input_size(arg) for arg in args]
        kernel = vs.get_variable("kernel", [sum(sizes), output_size], dtype=args[0].dtype)
        if self._normalizes:
            parts, begin = [], 0
            with ops.control_dependencies(None):
                for i, size in enumerate(sizes):
                    part = kernel[begin:begin + size, :]
                    length = vs.get_variable(f"norm_{i}", [output_size], dtype=kernel.dtype)
                    parts.append(nn_impl.l2_normalize(part, axis=0) * length)
                    begin += size
                kernel = array_ops.concat(parts, axis=0)
        result = math_ops.matmul(args[0] if len(args) == 1 else array_ops.concat(args, 1), kernel)
        if not bias:
            return result
        with vs.variable_scope(vs.get_variable_scope()) as scope:
            scope.set_partitioner(None)
            return nn_activation.bias_add(result, vs.get_variable(
                "bias", [output_size], dtype=args[0].dtype, initializer=init_ops.constant_initializer(0.0)))
