"""The uniform distribution."""
import math

from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution

__all__ = ["Uniform"]


class Uniform(distribution.FloatParameters):
    """1 / (high - low) from `low` up to, and without, `high`."""

    _PARAMETERS = ("low", "high")

    def __init__(self, low=0., high=1., validate_args=False, allow_nan_stats=True, name="Uniform"):
        super().__init__({"low": low, "high": high},
                         lambda: [check_ops.assert_less(low, high, message="uniform not defined when low >= high.")],
                         validate_args, allow_nan_stats, dict(locals()), name)

    @property
    def low(self):
        """The lower end."""
        return self._low

    @property
    def high(self):
        """The upper end."""
        return self._high

    def range(self, name="range"):
        """high - low."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        samples = random_ops.random_uniform(shape=shape, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x):
        x = x * array_ops.ones(self.batch_shape_tensor(), dtype=x.dtype)
        outside = gen.logical_or(x < self.low, x >= self.high)
        return array_ops.where_v2(gen.is_nan(x), x, array_ops.where_v2(
            outside, array_ops.zeros_like(x), array_ops.ones_like(x) / self.range()))

    def _cdf(self, x):
        shape = array_ops.broadcast_dynamic_shape(array_ops.shape(x), self.batch_shape_tensor())
        zeros, ones = array_ops.zeros(shape, dtype=self.dtype), array_ops.ones(shape, dtype=self.dtype)
        below_high = array_ops.where_v2(x < self.low, zeros, (x * ones - self.low) / self.range())
        return array_ops.where_v2(x >= self.high, ones, below_high)

    def _entropy(self):
        return gen.log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.

    def _variance(self):
        return math_ops.square(self.range()) / 12.

    def _stddev(self):
        return self.range() / math.sqrt(12.)
