"""Cells of recurrent networks: one step each. Wrappers around cells are in rnn_cell_wrappers."""
import collections

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.layers import base as base_layer
from penstock._src.layers import identifiers
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import partitioned_variables
from penstock._src.ops.state import variable_scope as vs
from penstock._src.ops.state import variables as tf_variables
from penstock._src.base import tf_logging as logging
from penstock._src.ops.state import base as trackable
from penstock._src.base import nest

_BIAS_VARIABLE_NAME = "bias"
_WEIGHTS_VARIABLE_NAME = "kernel"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"


def assert_like_rnncell(cell_name, cell):
    """TypeError that says what `cell` lacks to be a cell."""
    problems = []
    if not hasattr(cell, "output_size"):
        problems.append("'output_size' property is missing")
    if not hasattr(cell, "state_size"):
        problems.append("'state_size' property is missing")
    if not hasattr(cell, "get_initial_state") and not hasattr(cell, "zero_state"):
        problems.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        problems.append("is not callable")
    if problems:
        raise TypeError("The argument {!r} ({}) is not an RNNCell: {}.".format(cell_name, cell, ", ".join(problems)))


def _as_vector(value, what):
    """(1-D tensor or None, what is known of its values)."""
    if isinstance(value, ops.Tensor):
        known = tensor_util.constant_value(value)
        if value.shape.ndims == 0:
            return array_ops.expand_dims(value, 0), known
        if value.shape.ndims != 1:
            raise ValueError("%s tensor must be either a scalar or vector, but saw tensor: %s" % (what, value))
        return value, known
    shape = tensor_shape.as_shape(value)
    known = shape.as_list() if shape.ndims is not None else None
    return (constant_op.constant(known, dtype=dtypes.int32) if shape.is_fully_defined() else None), known


def _concat(prefix, suffix, static=False):
    """The two shapes joined: as a tensor, or as a list with None for what is unknown."""
    p, p_known = _as_vector(prefix, "prefix")
    s, s_known = _as_vector(suffix, "suffix")
    if static:
        shape = tensor_shape.as_shape(p_known).concatenate(s_known)
        return shape.as_list() if shape.ndims is not None else None
    if p is None or s is None:
        raise ValueError("Provided a prefix or suffix of None: %s and %s" % (prefix, suffix))
    return array_ops.concat((p, s), 0)


def _zero_state_tensors(state_size, batch_size, dtype):

    def zeros(size):
        state = array_ops.zeros(_concat(batch_size, size), dtype=dtype)
        state.set_shape(_concat(batch_size, size, static=True))
        return state

    return nest.map_structure(zeros, state_size)


def _check_supported_dtypes(dtype):
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError("RNN cell only supports floating point inputs, but saw dtype: %s" % dtype)


def _check_rnn_cell_input_dtypes(inputs):
    for t in nest.flatten(inputs):
        _check_supported_dtypes(t.dtype)


class RNNCell(base_layer.Layer):
    """Base of the cells: called with (inputs, state), gives (outputs, new state)."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True

    def __call__(self, inputs, state, scope=None):
        """One step; variables are in `scope`, or in the scope of the first call."""
        if scope is not None:
            with vs.variable_scope(scope, custom_getter=self._rnn_get_variable) as scope:
                return super().__call__(inputs, state, scope=scope)
        if getattr(self, "rnncell_scope", None) is None:
            self.rnncell_scope = vs.variable_scope(vs.get_variable_scope(), custom_getter=self._rnn_get_variable)
        with self.rnncell_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter, *args, **kwargs):
        # Cells that call get_variable themselves own what they get.
        variable = getter(*args, **kwargs)
        part = list(variable)[0] if isinstance(variable, partitioned_variable.PartitionedVariable) else variable
        trainable = any(part is v or variable is v for v in tf_variables.trainable_variables())
        owned = self._trainable_weights if trainable else self._non_trainable_weights
        if all(variable is not v for v in owned):
            owned.append(variable)
        return variable

    @property
    def state_size(self):
        """An int, a shape, or a nest of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        raise NotImplementedError("Abstract method")

    def build(self, _):
        # Cells that call get_variable in `call` have nothing to build.
        pass

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The state before the first step, for the batch of `inputs` or of `batch_size`."""
        if inputs is not None:
            inputs = ops.convert_to_tensor(inputs, name="inputs")
            batch = inputs.shape.dims[0].value
            if batch_size is not None:
                known = tensor_util.constant_value(batch_size) if isinstance(batch_size, ops.Tensor) else batch_size
                if batch != known:
                    raise ValueError("batch size from input tensor is different from the input param. Input tensor "
                                     "batch: {}, batch_size: {}".format(batch, batch_size))
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError("dtype from input tensor is different from the input param. Input tensor dtype: {}, "
                                 "dtype: {}".format(inputs.dtype, dtype))
            batch_size = batch or array_ops.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: batch_size={}, "
                             "dtype={}".format(batch_size, dtype))
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """A state of zeros."""
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return _zero_state_tensors(self.state_size, batch_size, dtype)


def _by_name(value):
    """An activation or initializer as configurations have it."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    return None if value is None else value.__name__


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __init__(self, num_units, activation, reuse, name, dtype, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        _check_supported_dtypes(self.dtype)
        self.input_spec = base_layer.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = identifiers.activation(activation) or math_ops.tanh

    def get_config(self):
        """The arguments of the constructor, functions and initializers by name."""
        return {**super().get_config(), "num_units": self._num_units, "activation": _by_name(self._activation),
                "reuse": self._reuse}

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        return base_layer.Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def _input_depth(self, inputs_shape):
        depth = tensor_shape.dimension_value(inputs_shape[-1])
        if depth is None:
            raise ValueError("Expected inputs.shape[-1] to be known, saw shape: %s" % str(inputs_shape))
        _check_supported_dtypes(self.dtype)
        return depth


class BasicRNNCell(LayerRNNCell):
    """output = new state = activation(W * [input, state] + b)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, input_shape):
        depth = self._input_depth(input_shape)
        self._kernel = self.add_variable(_WEIGHTS_VARIABLE_NAME, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(_BIAS_VARIABLE_NAME, shape=[self._num_units],
                                       initializer=init_ops.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        _check_rnn_cell_input_dtypes([inputs, state])
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._kernel)
        output = self._activation(nn_activation.bias_add(gates, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit (Cho et al., 2014)."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = identifiers.initializer(kernel_initializer)
        self._bias_initializer = identifiers.initializer(bias_initializer)

    def get_config(self):
        return {**super().get_config(), "kernel_initializer": _by_name(self._kernel_initializer),
                "bias_initializer": _by_name(self._bias_initializer)}

    def build(self, input_shape):
        depth = self._input_depth(input_shape) + self._num_units
        # Gates open at first, so that the state passes.
        gate_bias = self._bias_initializer or init_ops.constant_initializer(1.0, dtype=self.dtype)
        self._gate_kernel = self.add_variable("gates/kernel", shape=[depth, 2 * self._num_units],
                                              initializer=self._kernel_initializer)
        self._gate_bias = self.add_variable("gates/bias", shape=[2 * self._num_units], initializer=gate_bias)
        self._candidate_kernel = self.add_variable("candidate/kernel", shape=[depth, self._num_units],
                                                   initializer=self._kernel_initializer)
        self._candidate_bias = self.add_variable(
            "candidate/bias", shape=[self._num_units],
            initializer=self._bias_initializer or init_ops.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        _check_rnn_cell_input_dtypes([inputs, state])
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel)
        gates = math_ops.sigmoid(nn_activation.bias_add(gates, self._gate_bias))
        r, u = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = math_ops.matmul(array_ops.concat([inputs, r * state], 1), self._candidate_kernel)
        c = self._activation(nn_activation.bias_add(candidate, self._candidate_bias))
        new_h = u * state + (1 - u) * c
        return new_h, new_h


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the cell's memory and its output."""
    __slots__ = ()

    @property
    def dtype(self):
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError("Inconsistent internal state: %s vs %s" % (str(c.dtype), str(h.dtype)))
        return c.dtype


class BasicLSTMCell(LayerRNNCell):
    """An LSTM without peepholes (Zaremba et al., 2014); `forget_bias` keeps memory at first."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    def get_config(self):
        return {**super().get_config(), "forget_bias": self._forget_bias, "state_is_tuple": self._state_is_tuple}

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def build(self, input_shape):
        depth = self._input_depth(input_shape) + self._num_units
        self._kernel = self.add_variable(_WEIGHTS_VARIABLE_NAME, shape=[depth, 4 * self._num_units])
        self._bias = self.add_variable(_BIAS_VARIABLE_NAME, shape=[4 * self._num_units],
                                       initializer=init_ops.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        _check_rnn_cell_input_dtypes([inputs, state])
        sigmoid, add, multiply = math_ops.sigmoid, math_ops.add, math_ops.multiply
        one = constant_op.constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_ops.split(value=state, num_or_size_splits=2, axis=one)
        gates = math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel)
        gates = nn_activation.bias_add(gates, self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant_op.constant(self._forget_bias, dtype=f.dtype)
        new_c = add(multiply(c, sigmoid(add(f, forget_bias))), multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_ops.concat([new_c, new_h], 1)


class LSTMCell(LayerRNNCell):
    """An LSTM with optional peepholes, clipping and projection of the output (Sak et al., 2014)."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
                 proj_clip=None, num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True,
                 activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                         "state_is_tuple=True.", self)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = identifiers.initializer(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        outputs = num_proj or num_units
        self._state_size = LSTMStateTuple(num_units, outputs) if state_is_tuple else num_units + outputs
        self._output_size = outputs

    def get_config(self):
        return {**super().get_config(), "use_peepholes": self._use_peepholes, "cell_clip": self._cell_clip,
                "initializer": _by_name(self._initializer), "num_proj": self._num_proj, "proj_clip": self._proj_clip,
                "num_unit_shards": self._num_unit_shards, "num_proj_shards": self._num_proj_shards,
                "forget_bias": self._forget_bias, "state_is_tuple": self._state_is_tuple}

    @property
    def state_size(self):
        return self._state_size

    @property
    def output_size(self):
        return self._output_size

    def build(self, input_shape):
        depth = self._input_depth(input_shape) + (self._num_units if self._num_proj is None else self._num_proj)

        def partitioner(shards):
            return None if shards is None else partitioned_variables.fixed_size_partitioner(shards)

        self._kernel = self.add_variable(
            _WEIGHTS_VARIABLE_NAME, shape=[depth, 4 * self._num_units], initializer=self._initializer,
            partitioner=partitioner(self._num_unit_shards))
        self._bias = self.add_variable(
            _BIAS_VARIABLE_NAME, shape=[4 * self._num_units],
            initializer=init_ops.zeros_initializer if self.dtype is None else init_ops.zeros_initializer(self.dtype))
        if self._use_peepholes:
            for gate in "fio":
                diagonal = self.add_variable("w_%s_diag" % gate, shape=[self._num_units],
                                             initializer=self._initializer)
                setattr(self, "_w_%s_diag" % gate, diagonal)
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                "projection/kernel", shape=[self._num_units, self._num_proj], initializer=self._initializer,
                partitioner=partitioner(self._num_proj_shards))
        self.built = True

    def call(self, inputs, state):
        _check_rnn_cell_input_dtypes([inputs, state])
        sigmoid = math_ops.sigmoid
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            outputs = self._num_units if self._num_proj is None else self._num_proj
            c_prev = array_ops.slice(state, [0, 0], [-1, self._num_units])
            m_prev = array_ops.slice(state, [0, self._num_units], [-1, outputs])
        if inputs.get_shape().with_rank(2).dims[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = math_ops.matmul(array_ops.concat([inputs, m_prev], 1), self._kernel)
        gates = nn_activation.bias_add(gates, self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            c = (sigmoid(f + self._forget_bias + self._w_f_diag * c_prev) * c_prev +
                 sigmoid(i + self._w_i_diag * c_prev) * self._activation(j))
        else:
            c = sigmoid(f + self._forget_bias) * c_prev + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_ops.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            m = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = math_ops.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = clip_ops.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, (LSTMStateTuple(c, m) if self._state_is_tuple else array_ops.concat([c, m], 1))


class MultiRNNCell(RNNCell):
    """Cells on top of one another."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError("cells must be a list or tuple, but saw: %s." % cells)
        if len(set(id(cell) for cell in cells)) < len(cells):
            logging.log_first_n(logging.WARN, "At least two cells provided to MultiRNNCell are the same object and "
                                "will share weights.", 1)
        self._cells = cells
        for i, cell in enumerate(cells):
            if isinstance(cell, trackable.Trackable):
                self._track_trackable(cell, name=f"cell-{i}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_sequence(c.state_size) for c in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes "
                             "are: %s" % str([c.state_size for c in cells]))

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._cells[-1].output_size

    def zero_state(self, batch_size, dtype):
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self):
        if not self.trainable:
            return []
        return [w for cell in self._cells if isinstance(cell, base_layer.Layer) for w in cell.trainable_weights]

    @property
    def non_trainable_weights(self):
        layers = [cell for cell in self._cells if isinstance(cell, base_layer.Layer)]
        frozen = [w for cell in layers for w in cell.non_trainable_weights]
        return frozen if self.trainable else [w for cell in layers for w in cell.trainable_weights] + frozen

    def call(self, inputs, state):
        position = 0
        current = inputs
        states = []
        for i, cell in enumerate(self._cells):
            with vs.variable_scope("cell_%d" % i):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError("Expected state to be a tuple of length %d, but received: %s" %
                                         (len(self.state_size), state))
                    own = state[i]
                else:
                    own = array_ops.slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                current, new_state = cell(current, own)
                states.append(new_state)
        return current, (tuple(states) if self._state_is_tuple else array_ops.concat(states, 1))
