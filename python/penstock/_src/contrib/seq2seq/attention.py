"""Attention: how much each step of a memory matters to a query."""
import math

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.layers import base as layers_base
from penstock._src.layers import core as layers_core
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import clip_ops
from penstock._src.control_flow import functional_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import random_ops
from penstock._src.layers.rnn import rnn_cell_impl
from penstock._src.ops.state import variable_scope as vs
from penstock._src.base import nest


def known_or_dynamic(x, axis):
    """The size of a dimension, as a number if it is known."""
    return tensor_shape.dimension_value(x.shape[axis]) or array_ops.shape(x)[axis]


def _prepare_memory(memory, lengths, check_inner_dims_defined):
    """The memory with zeros behind the sequences' ends."""
    memory = nest.map_structure(lambda m: ops.convert_to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = ops.convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.get_shape()[2:].is_fully_defined():
                raise ValueError("Expected memory %s to have fully defined inner dims, but saw shape: %s" %
                                 (m.name, m.get_shape()))
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(first)[1], dtype=first.dtype)

    def masked(m):
        rank = m.get_shape().ndims
        ones = array_ops.ones((array_ops.rank(m) if rank is None else rank) - 2, dtype=dtypes.int32)
        return m * array_ops.reshape(mask, array_ops.concat((array_ops.shape(mask), ones), 0))

    return nest.map_structure(masked, memory)


def _mask_score(score, lengths, value):
    """The scores with `value` behind the sequences' ends."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with ops.control_dependencies([check_ops.assert_positive(lengths, message=message)]):
        mask = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(score)[1])
    return array_ops.where(mask, score, value * array_ops.ones_like(score))


class AttentionMechanism(object):
    """Called with (query, state), gives (alignments, next state)."""

    @property
    def alignments_size(self):
        """How many steps the memory has."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state."""
        raise NotImplementedError


class _Mechanism(AttentionMechanism):
    """What the mechanisms share: keys made of the memory, probabilities made of scores."""

    def __init__(self, query_layer, memory, probability_fn, memory_sequence_length=None, memory_layer=None,
                 check_inner_dims_defined=True, score_mask_value=None, custom_key_value_fn=None, name=None):
        for label, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, layers_base.Layer):
                raise TypeError("%s is not a Layer: %s" % (label, type(layer).__name__))
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError("probability_fn must be callable, saw type: %s" % type(probability_fn).__name__)
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(memory_layer.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _mask_score(score, memory_sequence_length, score_mask_value), previous)
        with ops.name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = known_or_dynamic(self._keys, 0)
            self._alignments_size = known_or_dynamic(self._keys, 1)

    @property
    def memory_layer(self):
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self):
        """The layer that queries go through, or None."""
        return self._query_layer

    @property
    def values(self):
        """What is averaged."""
        return self._values

    @property
    def keys(self):
        """What queries are compared with."""
        return self._keys

    @property
    def batch_size(self):
        """How many sequences there are."""
        return self._batch_size

    @property
    def alignments_size(self):
        return self._alignments_size

    @property
    def state_size(self):
        return self._alignments_size

    def initial_alignments(self, batch_size, dtype):
        """The alignments before the first step."""
        return rnn_cell_impl._zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query, state):
        with vs.variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _dense(units, name, dtype):
    return layers_core.Dense(units, name=name, use_bias=False, dtype=dtype)


class _Luong(_Mechanism):
    """The product of query and key."""

    def __init__(self, num_units, memory, scale, dtype, **kwargs):
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(query_layer=None, memory_layer=_dense(num_units, "memory_layer", dtype), memory=memory,
                         **kwargs)
        self._num_units = num_units
        self._scale = scale

    def _score(self, query):
        factor = None
        if self._scale:
            factor = vs.get_variable("attention_g", dtype=query.dtype, initializer=init_ops.ones_initializer, shape=())
        depth, units = query.get_shape()[-1], self._keys.get_shape()[-1]
        if tensor_shape.dimension_value(depth) != tensor_shape.dimension_value(units) \
                or tensor_shape.dimension_value(depth) is None:
            raise ValueError("Incompatible or unknown inner dimensions between query and keys.  Query (%s) has units: "
                             "%s.  Keys (%s) have units: %s.  Perhaps you need to set num_units to the keys' dimension "
                             "(%s)?" % (query, depth, self._keys, units, units))
        query = array_ops.expand_dims(query, 1)
        score = array_ops.squeeze(math_ops.matmul(query, self._keys, transpose_b=True), [1])
        return score if factor is None else factor * score


class _Bahdanau(_Mechanism):
    """A layer over the sum of query and key."""

    def __init__(self, num_units, memory, normalize, dtype, **kwargs):
        dtype = dtypes.float32 if dtype is None else dtype
        super().__init__(query_layer=_dense(num_units, "query_layer", dtype),
                         memory_layer=_dense(num_units, "memory_layer", dtype), memory=memory, **kwargs)
        self._num_units = num_units
        self._normalize = normalize

    def _score(self, query):
        processed = self.query_layer(query) if self.query_layer else query
        v = vs.get_variable("attention_v", [self._num_units], dtype=query.dtype)
        if not self._normalize:
            processed = array_ops.expand_dims(processed, 1)
            return math_ops.reduce_sum(v * math_ops.tanh(self._keys + processed), [2])
        g = vs.get_variable("attention_g", dtype=query.dtype, shape=(),
                            initializer=init_ops.constant_initializer(math.sqrt(1.0 / self._num_units)))
        b = vs.get_variable("attention_b", [self._num_units], dtype=query.dtype,
                            initializer=init_ops.zeros_initializer())
        processed = array_ops.expand_dims(processed, 1)
        normed = g * v * gen.rsqrt(math_ops.reduce_sum(math_ops.square(v)))
        return math_ops.reduce_sum(normed * math_ops.tanh(self._keys + processed + b), [2])


def _without_previous(probability_fn):
    probability_fn = nn_activation.softmax if probability_fn is None else probability_fn
    return lambda score, _: probability_fn(score)


class LuongAttention(_Luong):
    """Multiplicative attention (Luong et al., 2015)."""
    _scope = "luong_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="LuongAttention"):
        super().__init__(num_units, memory, scale, dtype, probability_fn=_without_previous(probability_fn),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
                         custom_key_value_fn=custom_key_value_fn, name=name)


class BahdanauAttention(_Bahdanau):
    """Additive attention (Bahdanau et al., 2015)."""
    _scope = "bahdanau_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="BahdanauAttention"):
        super().__init__(num_units, memory, normalize, dtype, probability_fn=_without_previous(probability_fn),
                         memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
                         custom_key_value_fn=custom_key_value_fn, name=name)


def safe_cumprod(x, *args, **kwargs):
    """cumprod by way of logarithms, so that its gradient is finite."""
    with ops.name_scope(None, "SafeCumprod", [x]):
        x = ops.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return gen.exp(math_ops.cumsum(gen.log(clip_ops.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Attention that only moves forward (Raffel et al., 2017), from the probabilities of stopping at each step.

    mode: "recursive" (exact), "parallel" (by cumulative sums), or "hard" (probabilities that are 0 or 1).
    """
    p_choose_i = ops.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous_attention = ops.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch_size = known_or_dynamic(p_choose_i, 0)
        going_on = array_ops.concat([array_ops.ones((batch_size, 1)), 1 - p_choose_i[:, :-1]], 1)
        return p_choose_i * array_ops.transpose(functional_ops.scan(
            lambda x, yz: array_ops.reshape(yz[0] * x + yz[1], (batch_size,)),
            [array_ops.transpose(going_on), array_ops.transpose(previous_attention)], array_ops.zeros((batch_size,))))
    if mode == "parallel":
        going_on = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        return p_choose_i * going_on * math_ops.cumsum(
            previous_attention / clip_ops.clip_by_value(going_on, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p_choose_i *= math_ops.cumsum(previous_attention, axis=1)
        return p_choose_i * math_ops.cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic_probability(sigmoid_noise, mode, seed):
    def probability(score, previous):
        if sigmoid_noise > 0:
            noise = random_ops.random_normal(array_ops.shape(score), dtype=score.dtype, seed=seed)
            score += sigmoid_noise * noise
        chosen = math_ops.cast(score > 0, score.dtype) if mode == "hard" else math_ops.sigmoid(score)
        return monotonic_attention(chosen, previous, mode)

    return probability


class _Monotonic:
    """Mixed into a mechanism: its score gets a bias, and attention begins with the first step."""

    def initial_alignments(self, batch_size, dtype):
        return array_ops.one_hot(array_ops.zeros((batch_size,), dtype=dtypes.int32), self._alignments_size, dtype=dtype)

    def _score(self, query):
        score = super()._score(query)
        return score + vs.get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)


class BahdanauMonotonicAttention(_Monotonic, _Bahdanau):
    """Additive attention that only moves forward."""
    _scope = "bahdanau_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, score_mask_value=None,
                 sigmoid_noise=0., sigmoid_noise_seed=None, score_bias_init=0., mode="parallel", dtype=None,
                 name="BahdanauMonotonicAttention"):
        self._score_bias_init = score_bias_init
        super().__init__(num_units, memory, normalize, dtype, score_mask_value=score_mask_value, name=name,
                         probability_fn=_monotonic_probability(sigmoid_noise, mode, sigmoid_noise_seed),
                         memory_sequence_length=memory_sequence_length)


class LuongMonotonicAttention(_Monotonic, _Luong):
    """Multiplicative attention that only moves forward."""
    _scope = "luong_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, score_mask_value=None,
                 sigmoid_noise=0., sigmoid_noise_seed=None, score_bias_init=0., mode="parallel", dtype=None,
                 name="LuongMonotonicAttention"):
        self._score_bias_init = score_bias_init
        super().__init__(num_units, memory, scale, dtype, score_mask_value=score_mask_value, name=name,
                         probability_fn=_monotonic_probability(sigmoid_noise, mode, sigmoid_noise_seed),
                         memory_sequence_length=memory_sequence_length)


def hardmax(logits, name=None):
    """1 for the largest of the last dimension, 0 for the others."""
    with ops.name_scope(name, "Hardmax", [logits]):
        logits = ops.convert_to_tensor(logits, name="logits")
        depth = tensor_shape.dimension_value(logits.get_shape()[-1])
        if depth is None:
            depth = array_ops.shape(logits)[-1]
        return array_ops.one_hot(math_ops.argmax(logits, -1), depth, dtype=logits.dtype)
