"""Initializers of version 1: objects called with a shape that return the first value of a variable.

Each takes `partition_info` when it makes one slice of a partitioned variable; scaling initializers then look at the
whole shape. `get_config` and `from_config` carry the arguments over.
"""
import math

import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import linalg_ops_impl
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops

# Standard deviation of a unit normal distribution cut at two standard deviations.
_TRUNCATED_NORMAL_STDDEV = .87962566103423978


def _assert_float_dtype(dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype


def _compute_fans(shape):
    """(values that go into one output, values that one input goes to) of a weight of that shape."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return int(shape[0]), int(shape[0])
    field = 1
    for dim in shape[:-2]:
        field *= dim
    return int(shape[-2] * field), int(shape[-1] * field)


class Initializer(object):
    """Base of all initializers."""

    _config = ()  # names of the attributes that get_config lists

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of that shape; of the initializer's own dtype if `dtype` is None."""
        raise NotImplementedError

    def get_config(self):
        """The arguments of the constructor as plain values."""
        config = {name: getattr(self, name) for name in self._config}
        if "dtype" in config:
            config["dtype"] = self.dtype.name
        return config

    @classmethod
    def from_config(cls, config):
        """The initializer that `get_config` described."""
        return cls(**config)


class Zeros(Initializer):
    """All zeros."""
    _config = ("dtype",)

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return array_ops.zeros(shape, self.dtype if dtype is None else dtype)


class Ones(Initializer):
    """All ones."""
    _config = ("dtype",)

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return array_ops.ones(shape, self.dtype if dtype is None else dtype)


class Constant(Initializer):
    """One value, or the values of a list or array; the last one is repeated unless `verify_shape`."""
    _config = ("value", "dtype")

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError("Invalid type for initial value: %s (expected Python scalar, list or tuple of values, or "
                            "numpy.ndarray)." % type(value))
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        return constant_op.constant_v1(
            self.value, dtype=self.dtype if dtype is None else dtype, shape=shape,
            verify_shape=self._verify_shape if verify_shape is None else verify_shape)


class RandomUniform(Initializer):
    """Uniform in [minval, maxval)."""
    _config = ("minval", "maxval", "seed", "dtype")

    def __init__(self, minval=0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_uniform(shape, self.minval, self.maxval, self.dtype if dtype is None else dtype,
                                         seed=self.seed)


class RandomNormal(Initializer):
    """Normal."""
    _config = ("mean", "stddev", "seed", "dtype")

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _assert_float_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.random_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype,
                                        seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Normal, drawn again beyond two standard deviations."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random_ops.truncated_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype,
                                           seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform, scaled so that a linear layer of the weight keeps the variance of its input."""
    _config = ("factor", "seed", "dtype")

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = _assert_float_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = shape if partition_info is None else partition_info.full_shape
        inputs = 1.0
        for dim in whole[:-1]:
            inputs *= float(dim)
        limit = math.sqrt(3 / max(inputs, 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, seed=self.seed)


class VarianceScaling(Initializer):
    """Random with variance `scale` / n, n being the number of inputs, outputs or their mean, by `mode`."""
    _config = ("scale", "mode", "distribution", "seed", "dtype")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if scale <= 0.:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _assert_float_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        fan_in, fan_out = _compute_fans(shape if partition_info is None else partition_info.full_shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.}[self.mode]
        variance = self.scale / max(1., count)
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(variance) / _TRUNCATED_NORMAL_STDDEV
            return random_ops.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * variance)
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (inputs + outputs)."""
    _config = ("seed", "dtype")

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal with variance 2 / (inputs + outputs)."""
    _config = ("seed", "dtype")

    def __init__(self, seed=None, dtype=dtypes.float32):
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


def random_orthogonal(shape, dtype, seed):
    """A matrix with orthonormal columns, every one as likely: `shape` has no more columns than rows."""
    a = random_ops.random_normal(shape, dtype=dtype, seed=seed)
    q, r = gen.qr(a, full_matrices=False)
    # The signs make the distribution uniform.
    q *= math_ops.sign(gen.diag_part(r))
    return q


class Orthogonal(Initializer):
    """A random matrix with orthogonal rows or columns, times `gain`; all dimensions but the last count as rows."""
    _config = ("gain", "seed", "dtype")

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _assert_float_dtype(dtype)
        self.seed = seed

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows = 1
        for dim in shape[:-1]:
            rows *= dim
        rows, columns = int(rows), int(shape[-1])
        tall = (columns, rows) if rows < columns else (rows, columns)
        q = random_orthogonal(tall, dtype, self.seed)
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, shape)


class Identity(Initializer):
    """The identity matrix times `gain`; for two dimensions only."""
    _config = ("gain", "dtype")

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _assert_float_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = shape if partition_info is None else partition_info.full_shape
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        if isinstance(whole, tensor_shape.TensorShape):
            whole = whole.as_list()
        eye = linalg_ops_impl.eye(*whole, dtype=self.dtype if dtype is None else dtype)
        if partition_info is not None:
            eye = array_ops.slice(eye, partition_info.var_offset, shape)
        return self.gain * eye


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity
