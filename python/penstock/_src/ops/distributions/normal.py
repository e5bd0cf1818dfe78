"""The normal distribution."""
import math

from penstock._src.graph import constant_op
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import special_math

__all__ = ["Normal", "NormalWithSoftplusScale"]


class Normal(distribution.LocationScale):
    """exp(-((x - loc) / scale)^2 / 2) / (sqrt(2 pi) scale): `loc` is the mean, `scale` the standard deviation."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__({"loc": loc, "scale": scale}, lambda: [check_ops.assert_positive(scale)], validate_args,
                         allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        return random_ops.random_normal(shape=shape, mean=0., stddev=1., dtype=self.loc.dtype,
                                        seed=seed) * self.scale + self.loc

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        return -0.5 * math_ops.square(self._z(x))

    def _log_normalization(self):
        return 0.5 * math.log(2. * math.pi) + gen.log(self.scale)

    def _log_cdf(self, x):
        return special_math.log_ndtr(self._z(x))

    def _cdf(self, x):
        return special_math.ndtr(self._z(x))

    def _log_survival_function(self, x):
        return special_math.log_ndtr(-self._z(x))

    def _survival_function(self, x):
        return special_math.ndtr(-self._z(x))

    def _quantile(self, p):
        return self._inv_z(special_math.ndtri(p))

    def _entropy(self):
        return 0.5 * math.log(2. * math.pi * math.e) + gen.log(self._stddev())

    def _mean(self):
        return self.loc * array_ops.ones_like(self.scale)

    def _stddev(self):
        return self.scale * array_ops.ones_like(self.loc)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        with ops.name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _inv_z(self, z):
        with ops.name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc


class NormalWithSoftplusScale(Normal):
    """Normal whose standard deviation is softplus(scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="NormalWithSoftplusScale"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[scale]) as name:
            super().__init__(loc, gen.softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters


@kullback_leibler.RegisterKL(Normal, Normal)
def _kl_normal_normal(a, b, name=None):
    with ops.name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (constant_op.constant(value, dtype=a.dtype) for value in (1, 2, 0.5))
        variance = math_ops.square(b.scale)
        ratio = math_ops.square(a.scale) / variance
        return (gen.squared_difference(a.loc, b.loc) / (two * variance) +
                half * (ratio - one - gen.log(ratio)))
