"""Cells around cells: attention over what came before, projections, embeddings, highways."""
import math

from penstock._src.contrib.rnn.linear import Linear
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation, nn_conv
from penstock._src.ops.state import variable_scope as vs
from penstock._src.layers.rnn.rnn_cell_impl import RNNCell, assert_like_rnncell
from penstock._src.base import nest


class _Around(RNNCell):
    """A cell that hands on the state of the one inside."""

    def __init__(self, cell, reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._linear = None

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def _projected(self, value, size, activation):
        self._linear = self._linear or Linear(value, size)
        made = self._linear(value)
        return activation(made) if activation else made


class InputProjectionWrapper(_Around):
    """An affine map before the cell."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs, state):
        return self._cell(self._projected(inputs, self._num_proj, self._activation), state)


class OutputProjectionWrapper(_Around):
    """An affine map behind the cell."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size, self._activation = output_size, activation

    @property
    def output_size(self):
        return self._size

    def call(self, inputs, state):
        output, new_state = self._cell(inputs, state)
        return self._projected(output, self._size, self._activation), new_state


class EmbeddingWrapper(_Around):
    """Rows of a matrix stand for the numbers that come in."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, "
                             f"{embedding_size}.")
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs, state):
        with ops.device("/cpu:0"):
            initializer = self._initializer or vs.get_variable_scope().initializer or \
                init_ops.random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            embedding = vs.get_variable("embedding", self._shape, initializer=initializer, dtype=dtype)
            return self._cell(embedding_ops.embedding_lookup(embedding, array_ops.reshape(inputs, [-1])), state)


class HighwayWrapper(_Around):
    """A gate mixes what goes into the cell with what comes out (Srivastava et al., 2015)."""

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__(cell)
        self._coupled, self._carry_bias = couple_carry_transform_gates, carry_bias_init

    def _gate(self, name, value, bias):
        size = value.shape.with_rank(2).as_list()[1]
        weights = vs.get_variable(f"{name}_w", [size, size])
        biases = vs.get_variable(f"{name}_b", [size], initializer=init_ops.constant_initializer(bias))
        return math_ops.sigmoid(nn_activation.bias_add(math_ops.matmul(value, weights), biases))

    def _mixed(self, value, output):
        value.shape.assert_is_compatible_with(output.shape)
        carry = self._gate("carry", value, self._carry_bias)
        transform = 1 - carry if self._coupled else self._gate("transform", value, -self._carry_bias)
        return value * carry + output * transform

    def __call__(self, inputs, state, scope=None):
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(self._mixed, inputs, outputs), new_state


class AttentionCellWrapper(_Around):
    """Attention over the last outputs, as Bahdanau's over the source."""

    def __init__(self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True,
                 reuse=None):
        super().__init__(cell, reuse)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                             f"{cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._length = attn_length
        self._size = cell.output_size if attn_size is None else attn_size
        self._vector = self._size if attn_vec_size is None else attn_vec_size
        self._input_size, self._state_is_tuple = input_size, state_is_tuple
        self._query = self._output = None

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._size

    def zero_state(self, batch_size, dtype):
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs, state):
        if not self._state_is_tuple:
            state = array_ops.split(state, [self._cell.state_size, self._size, self._size * self._length], axis=1)
        state, attended, before = state
        before = array_ops.reshape(before, [-1, self._length, self._size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, new_state = self._cell(self._projected([inputs, attended], size, None), state)
        query = array_ops.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        attended = self._attention(query, before)
        with vs.variable_scope("attn_output_projection"):
            self._output = self._output or Linear([output, attended], self._size)
            output = self._output([output, attended])
        before = array_ops.concat([before[:, 1:], array_ops.expand_dims(output, 1)], 1)
        new_state = (new_state, attended, array_ops.reshape(before, [-1, self._length * self._size]))
        return output, new_state if self._state_is_tuple else array_ops.concat(list(new_state), 1)

    def _attention(self, query, before):
        with vs.variable_scope("attention"):
            kernel = vs.get_variable("attn_w", [1, 1, self._size, self._vector])
            vector = vs.get_variable("attn_v", [self._vector])
            hidden = array_ops.reshape(before, [-1, self._length, 1, self._size])
            features = nn_conv.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            self._query = self._query or Linear(query, self._vector)
            asked = array_ops.reshape(self._query(query), [-1, 1, 1, self._vector])
            weights = nn_activation.softmax(math_ops.reduce_sum(vector * math_ops.tanh(features + asked), [2, 3]))
            weights = array_ops.reshape(weights, [-1, self._length, 1, 1])
            return array_ops.reshape(math_ops.reduce_sum(weights * hidden, [1, 2]), [-1, self._size])
