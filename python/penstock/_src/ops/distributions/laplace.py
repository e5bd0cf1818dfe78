"""Laplace's distribution."""
import math

import numpy as np

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import special_math

__all__ = ["Laplace", "LaplaceWithSoftplusScale"]


class Laplace(distribution.LocationScale):
    """exp(-|x - loc| / scale) / (2 scale): `loc` is the mean, `scale` the mean distance from it."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__({"loc": loc, "scale": scale}, lambda: [check_ops.assert_positive(scale)], validate_args,
                         allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        number = self.dtype.as_numpy_dtype
        # From -1 without -1 itself, whose logarithm below would be infinite.
        uniform = random_ops.random_uniform(
            shape=array_ops.concat([[n], self.batch_shape_tensor()], 0), minval=np.nextafter(number(-1.), number(0.)),
            maxval=1., dtype=self.dtype, seed=seed)
        return self.loc - self.scale * math_ops.sign(uniform) * gen.log1p(-math_ops.abs(uniform))

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        return -math_ops.abs(self._z(x))

    def _log_normalization(self):
        return math.log(2.) + gen.log(self.scale)

    def _log_cdf(self, x):
        return special_math.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x):
        return special_math.log_cdf_laplace(-self._z(x))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * math_ops.sign(z) * (1. - gen.exp(-math_ops.abs(z)))

    def _entropy(self):
        return math.log(2.) + 1. + gen.log(self.scale + array_ops.zeros_like(self.loc))

    def _mean(self):
        return self.loc + array_ops.zeros_like(self.scale)

    def _stddev(self):
        return math.sqrt(2.) * self.scale + array_ops.zeros_like(self.loc)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        return (x - self.loc) / self.scale


class LaplaceWithSoftplusScale(Laplace):
    """Laplace with softplus(scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="LaplaceWithSoftplusScale"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[loc, scale]) as name:
            super().__init__(loc, gen.softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters
