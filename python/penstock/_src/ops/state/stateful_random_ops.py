"""tf.random.Generator: random numbers whose generator is a variable."""
import contextlib

import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variables
from penstock._src.ops.random.algorithms import Algorithm, convert_alg_to_int
from penstock._src.ops.random.random_ops import uniform_type_and_limit
from penstock._src.ops.state import tracking
from penstock._src.base import locks

_WORD = (1 << 64) - 1
_COUNTER_SIZE = 2
DEFAULT_ALGORITHM = "philox"


# Numbers of state variables, by algorithm.
_STATE_SIZES = {Algorithm.PHILOX.value: 3, Algorithm.THREEFRY.value: 2, Algorithm.AUTO_SELECT.value: 3}


def _chosen(alg):
    """The algorithm that is chosen on CPUs, if the choice is left."""
    return Algorithm.PHILOX.value if alg == Algorithm.AUTO_SELECT.value else alg


def _state_size(alg):
    if alg not in _STATE_SIZES:
        raise ValueError("Argument `alg` got unsupported value %s. Supported values are %s." %
                         (alg, list(_STATE_SIZES)))
    return _STATE_SIZES[alg]


def _words(seed, size):
    """The seed as int64 words: a number of any size lowest word first, a vector as it is, filled up with zeros."""
    if isinstance(seed, (int, np.integer)):
        seed = int(seed)
        seed = [seed >> (64 * i) & _WORD for i in range(size)]
    if isinstance(seed, ops.Tensor):
        seed = math_ops.cast(seed, dtypes.int64)
        seed = array_ops.reshape(seed, [-1])
        return array_ops.concat([seed[:size], array_ops.zeros([size - min(size, seed.shape[0])], dtypes.int64)], 0)
    words = np.asarray(seed)
    if words.ndim > 1:
        raise ValueError("Argument `seed` should be a scalar or vector; got shape %s" % (words.shape,))
    words = np.array([int(w) & _WORD for w in words.reshape(-1)[:size]], np.uint64)
    return np.concatenate([words, np.zeros(size - len(words), np.uint64)]).view(np.int64)


def _state(seed, alg):
    """What create_rng_state gives: an array, unless the seed is a tensor, so that no graph has it yet."""
    return _words(seed, _state_size(convert_alg_to_int(alg)))


def create_rng_state(seed, alg):
    """The state of a generator as a tensor: a vector of int64, from a seed (a number or a vector)."""
    return ops.convert_to_tensor(_state(seed, alg))


def create_rng_state_v1(seed, algorithm):
    """The state of a generator as a vector of int64, from a seed (a number or a vector)."""
    return _state(seed, algorithm)


def non_deterministic_ints(shape, dtype=dtypes.int64):
    """Integers that no seed determines."""
    return gen.non_deterministic_ints(shape=_shape(shape), dtype=dtype)


def _shape(shape):
    if isinstance(shape, ops.Tensor):
        return shape
    return ops.convert_to_tensor(np.array(list(getattr(shape, "as_list", lambda: shape)()), np.int32).reshape(-1)
                                 if not isinstance(shape, int) else np.array([shape], np.int32))


def _outside_functions(*values):
    """Context manager for what makes the state of a generator from these: its variable begins outside of a function."""
    inside = any(isinstance(x, ops.Tensor) and not x._is_eager for x in values)
    return contextlib.nullcontext() if inside else ops.init_scope()


class Generator(tracking.AutoTrackable):
    """Random numbers that follow from a state, which each call moves on: the same after the same seed everywhere.

    Made by `from_seed`, `from_state`, `from_key_counter`, `from_non_deterministic_state` or as a copy of another one.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("All other arguments besides `copy_from` should be None when `copy_from` is not None.")
            state, self._alg = copy_from.state.read_value(), copy_from.algorithm
        else:
            if state is None or alg is None:
                raise ValueError("Arguments `state` and `alg` must not be None when `copy_from` is None.")
            self._alg = convert_alg_to_int(alg)
            with _outside_functions(state):
                state = ops.convert_to_tensor(state, dtypes.int64)
            if state.shape.ndims != 1 or state.shape[0] != _state_size(self._alg):
                raise ValueError("The shape of a state of algorithm %s must be [%d], not %s" %
                                 (self._alg, _state_size(self._alg), state.shape))
        self._state_var = variables.Variable(
            (lambda: state) if getattr(state, "_is_eager", False) else state, trainable=False, dtype=dtypes.int64,
            name="StateVar")

    @classmethod
    def from_state(cls, state, alg):
        """A generator with this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose numbers follow from a seed."""
        alg = convert_alg_to_int(DEFAULT_ALGORITHM if alg is None else alg)
        return cls(state=_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator whose numbers cannot be foreseen."""
        alg = convert_alg_to_int(DEFAULT_ALGORITHM if alg is None else alg)
        with _outside_functions():
            state = non_deterministic_ints([_state_size(alg)])
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with this key and counter."""
        alg = convert_alg_to_int(alg)
        with _outside_functions(key, counter):
            state = _state_of(key, counter, alg)
        return cls(state=state, alg=alg)

    def reset(self, state):
        """Sets the state."""
        self._state_var.assign(ops.convert_to_tensor(state, dtypes.int64))

    def reset_from_seed(self, seed):
        """Sets the state to that of a seed."""
        self.reset(_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Sets the state to a key and a counter."""
        self.reset(_state_of(key, counter, self._alg))

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The algorithm's number."""
        return self._alg

    @property
    def key(self):
        """The key part of the state."""
        return self._state_var[-1]

    def skip(self, delta):
        """Leaves out `delta` numbers; returns the state before."""
        delta = math_ops.cast(ops.convert_to_tensor(delta), dtypes.uint64)
        return gen.rng_read_and_skip(self._state_var.handle, alg=constant_op.constant(_chosen(self._alg), dtypes.int32),
                                     delta=delta)

    def _key_counter(self, shape):
        state = self.skip(math_ops.reduce_prod(math_ops.cast(shape, dtypes.int64)))
        return {"key": gen.bitcast(state[_COUNTER_SIZE:_COUNTER_SIZE + 1], dtypes.uint64),
                "counter": gen.bitcast(state[:_COUNTER_SIZE], dtypes.uint64),
                "alg": constant_op.constant(_chosen(self._alg), dtypes.int32)}

    def _scaled(self, op, name, shape, mean, stddev, dtype):
        with ops.name_scope(name) as name:
            shape = _shape(shape)
            mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
            numbers = op(shape=shape, dtype=dtype, **self._key_counter(shape))
            return math_ops.add(numbers * stddev, mean, name=name)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal numbers."""
        return self._scaled(gen.stateless_random_normal_v2, name or "stateful_normal", shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal numbers not further than two deviations from the mean."""
        return self._scaled(gen.stateless_truncated_normal_v2, name or "truncated_normal", shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Uniform numbers in [minval, maxval)."""
        dtype, maxval = uniform_type_and_limit(dtype, maxval)
        with ops.name_scope(name or "stateful_uniform") as name:
            shape = _shape(shape)
            minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
            maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
            if dtype.is_integer:
                return gen.stateless_random_uniform_int_v2(shape=shape, minval=minval, maxval=maxval, name=name,
                                                           **self._key_counter(shape))
            numbers = gen.stateless_random_uniform_v2(shape=shape, dtype=dtype, **self._key_counter(shape))
            return math_ops.add(numbers * (maxval - minval), minval, name=name)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers of all values of their type."""
        with ops.name_scope(name or "stateful_uniform_full_int") as name:
            shape = _shape(shape)
            return gen.stateless_random_uniform_full_int_v2(shape=shape, dtype=dtype, name=name,
                                                            **self._key_counter(shape))

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Samples of binomial distributions; `shape` ends with that of `counts` and `probs` together."""
        dtype = dtypes.as_dtype(dtype)
        with ops.name_scope(name or "binomial") as name:
            counts = ops.convert_to_tensor(counts, name="counts")
            probs = ops.convert_to_tensor(probs, name="probs")
            alg = constant_op.constant(_chosen(self._alg), dtypes.int64)
            return gen.stateful_random_binomial(self._state_var.handle, alg,
                                                _shape(shape), counts=counts, probs=probs, dtype=dtype, name=name)

    def make_seeds(self, count=1):
        """Seeds [2, count] for stateless random ops."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count=1):
        """Generators whose numbers have nothing to do with one another."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        return [Generator(state=_state_of(key, 0, self._alg), alg=self._alg) for key in array_ops.unstack(keys, count)]


def _state_of(key, counter, alg):
    size = _state_size(alg) - 1
    if isinstance(key, ops.Tensor) or isinstance(counter, ops.Tensor):
        key = array_ops.reshape(math_ops.cast(key, dtypes.int64), [1])
        return array_ops.concat([ops.convert_to_tensor(_words(counter, size), dtypes.int64), key], 0)
    return np.concatenate([_words(counter, size), _words(key, 1)])


_global_lock = locks.lock()
_global_generator = None


def get_global_generator():
    """The generator that programs share, made at first use."""
    global _global_generator
    with _global_lock:
        if _global_generator is None:
            with ops.init_scope():
                _global_generator = Generator.from_non_deterministic_state()
        return _global_generator


def set_global_generator(generator):
    """Makes another one the shared one; functions that were traced before keep the old one."""
    global _global_generator
    _global_generator = generator
