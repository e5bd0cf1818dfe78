"""Initializers of version 2: called with shape and dtype; a given seed makes them repeat their numbers."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.random import stateless_random_ops
from penstock._src.ops.state.init_ops import _assert_float_dtype, _compute_fans
from penstock._src.graph import gen
from penstock._src.core_ops import linalg_ops_impl
from penstock._src.core_ops import math_ops

import math
import numpy as np


_PART = ("partition_shape", "partition_offset")


class Initializer(object):
    """Base of all initializers.

    Beside shape and dtype a call takes `partition_shape` and `partition_offset`, for a part of a larger value: the
    shape of the part is what counts. ValueError where parts are not those of the whole; TypeError for other arguments.
    """

    _config = ()
    _has_parts = True  # a part may be made on its own

    def __call__(self, shape, dtype=None, **kwargs):
        raise NotImplementedError

    def _wanted(self, shape, options):
        """The shape that is asked for."""
        for name in options:
            if name not in _PART:
                raise TypeError(f"Keyword argument should be one of {list(_PART)}. Received: {name}")
        if options and not self._has_parts:
            raise ValueError(f"{type(self).__name__} initializer doesn't support partition-related arguments")
        part = options.get("partition_shape")
        return shape if part is None else part

    def get_config(self):
        """The arguments of the constructor as plain values."""
        return {name: getattr(self, name) for name in self._config}

    @classmethod
    def from_config(cls, config):
        """The initializer that `get_config` described."""
        config.pop("dtype", None)
        return cls(**config)


class Zeros(Initializer):
    """All zeros."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        return array_ops.zeros(shape, dtypes.as_dtype(dtype))


class Ones(Initializer):
    """All ones."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype == dtypes.string:
            raise ValueError("Expected numeric or boolean dtype, got %s." % dtype)
        return array_ops.ones(shape, dtype)


class Constant(Initializer):
    """One value, or values of exactly the right number."""
    _config = ("value",)
    _has_parts = False

    def __init__(self, value=0, support_partition=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError("Invalid type for initial value: %s (expected Python scalar, list or tuple of values, or "
                            "numpy.ndarray)." % type(value))
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        shape = self._wanted(shape, kwargs)
        return constant_op.constant(self.value, dtype=None if dtype is None else dtypes.as_dtype(dtype), shape=shape)


class _RandomGenerator(object):
    """Random tensors: from the graph's seeds, or stateless ones if the initializer has a seed."""

    def __init__(self, seed=None):
        self.seed = None if seed is None else [seed, 0]

    def random_normal(self, shape, mean=0.0, stddev=1, dtype=dtypes.float32):
        op = stateless_random_ops.stateless_random_normal if self.seed else random_ops.random_normal
        return op(shape=shape, mean=mean, stddev=stddev, dtype=dtype, seed=self.seed)

    def random_uniform(self, shape, minval, maxval, dtype):
        op = stateless_random_ops.stateless_random_uniform if self.seed else random_ops.random_uniform
        return op(shape=shape, minval=minval, maxval=maxval, dtype=dtype, seed=self.seed)

    def truncated_normal(self, shape, mean, stddev, dtype):
        op = stateless_random_ops.stateless_truncated_normal if self.seed else random_ops.truncated_normal
        return op(shape=shape, mean=mean, stddev=stddev, dtype=dtype, seed=self.seed)


class RandomUniform(Initializer):
    """Uniform in [minval, maxval)."""
    _config = ("minval", "maxval", "seed")

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self._random_generator = _RandomGenerator(seed)

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError("Expected float or integer dtype, got %s." % dtype)
        return self._random_generator.random_uniform(shape, self.minval, self.maxval, dtype)


class RandomNormal(Initializer):
    """Normal."""
    _config = ("mean", "stddev", "seed")
    _kind = "random_normal"

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self._random_generator = _RandomGenerator(seed)

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        draw = getattr(self._random_generator, self._kind)
        return draw(shape, self.mean, self.stddev, _assert_float_dtype(dtype))


class TruncatedNormal(RandomNormal):
    """Normal, drawn again beyond two standard deviations."""
    _kind = "truncated_normal"


class VarianceScaling(Initializer):
    """Random with variance `scale` / n, n being the number of inputs, outputs or their mean, by `mode`."""
    _config = ("scale", "mode", "distribution", "seed")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        checked = init_ops.VarianceScaling(scale, mode, distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = "truncated_normal" if checked.distribution == "normal" else checked.distribution
        self.seed = seed
        self._random_generator = _RandomGenerator(seed)

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        dtype = _assert_float_dtype(dtype)
        fan_in, fan_out = _compute_fans(shape)  # of the whole, also where a part is wanted
        shape = self._wanted(shape, kwargs)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.}[self.mode]
        variance = self.scale / max(1., count)
        if self.distribution == "truncated_normal":
            stddev = math.sqrt(variance) / init_ops._TRUNCATED_NORMAL_STDDEV
            return self._random_generator.truncated_normal(shape, 0.0, stddev, dtype)
        if self.distribution == "untruncated_normal":
            return self._random_generator.random_normal(shape, 0.0, math.sqrt(variance), dtype)
        limit = math.sqrt(3.0 * variance)
        return self._random_generator.random_uniform(shape, -limit, limit, dtype)


class Orthogonal(Initializer):
    """A random matrix with orthogonal rows or columns, times `gain`; all dimensions but the last count as rows."""
    _config = ("gain", "seed")
    _has_parts = False

    def __init__(self, gain=1.0, seed=None):
        self.gain = gain
        self.seed = seed
        self._random_generator = _RandomGenerator(seed)

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        dtype = _assert_float_dtype(dtype)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows = 1
        for dim in shape[:-1]:
            rows *= dim
        columns = shape[-1]
        a = self._random_generator.random_normal((max(columns, rows), min(columns, rows)), dtype=dtype)
        q, r = gen.qr(a, full_matrices=False)
        q *= math_ops.sign(gen.diag_part(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, shape)


class Identity(Initializer):
    """The identity matrix times `gain`; for two dimensions only."""
    _config = ("gain",)
    _has_parts = False

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = self._wanted(shape, kwargs)
        dtype = _assert_float_dtype(dtype)
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return self.gain * linalg_ops_impl.eye(*shape, dtype=dtype)


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (inputs + outputs)."""
    _config = ("seed",)

    def __init__(self, seed=None):
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal with variance 2 / (inputs + outputs)."""
    _config = ("seed",)

    def __init__(self, seed=None):
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed)


def lecun_normal(seed=None):
    """Truncated normal with variance 1 / inputs."""
    return VarianceScaling(scale=1., mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed=None):
    """Uniform with variance 1 / inputs."""
    return VarianceScaling(scale=1., mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed=None):
    """Truncated normal with variance 2 / inputs."""
    return VarianceScaling(scale=2., mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed=None):
    """Uniform with variance 2 / inputs."""
    return VarianceScaling(scale=2., mode="fan_in", distribution="uniform", seed=seed)


zeros_initializer = zero = zeros = Zeros
ones_initializer = one = ones = Ones
constant_initializer = constant = Constant
random_uniform_initializer = uniform = random_uniform = RandomUniform
random_normal_initializer = normal = random_normal = RandomNormal
truncated_normal_initializer = truncated_normal = TruncatedNormal
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = glorot_uniform = GlorotUniform
glorot_normal_initializer = glorot_normal = GlorotNormal
orthogonal_initializer = orthogonal = Orthogonal
identity_initializer = identity = Identity
