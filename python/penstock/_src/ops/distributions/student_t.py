"""Student's t distribution."""
import numpy as np

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.core_ops import special_math_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import util

__all__ = ["StudentT", "StudentTWithAbsDfSoftplusScale"]


class StudentT(distribution.LocationScale):
    """Proportional to (1 + y^2 / df)^(-(df + 1) / 2) with y = (x - loc) / scale: the sign of `scale` is ignored."""

    _PARAMETERS = ("df", "loc", "scale")

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        super().__init__({"df": df, "loc": loc, "scale": scale}, lambda: [check_ops.assert_positive(df)],
                         validate_args, allow_nan_stats, dict(locals()), name)

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    def _sample_n(self, n, seed=None):
        normal = random_ops.random_normal(array_ops.concat([[n], self.batch_shape_tensor()], 0), dtype=self.dtype,
                                          seed=seed)
        df = self.df * self._ones()
        gamma = random_ops.random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype,
                                        seed=util.gen_new_seed(seed, salt="student_t"))
        return normal * gen.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        y = (x - self.loc) / self.scale
        return -0.5 * (self.df + 1.) * gen.log1p(y**2. / self.df)

    def _log_normalization(self):
        return (gen.log(math_ops.abs(self.scale)) + 0.5 * gen.log(self.df) + 0.5 * np.log(np.pi) +
                gen.lgamma(0.5 * self.df) - gen.lgamma(0.5 * (self.df + 1.)))

    def _cdf(self, x):
        y = (x - self.loc) / math_ops.abs(self.scale)
        below = 0.5 * gen.betainc(0.5 * self.df, 0.5, self.df / (y**2. + self.df))
        return array_ops.where_v2(gen.less(y, 0.), below, 1. - below)

    def _entropy(self):
        v = self._ones()[..., array_ops.newaxis]
        beta_arguments = array_ops.concat([v * self.df[..., array_ops.newaxis], v], -1) / 2.
        return (gen.log(math_ops.abs(self.scale)) + 0.5 * gen.log(self.df) +
                special_math_ops.lbeta(beta_arguments) +
                0.5 * (self.df + 1.) * (gen.digamma(0.5 * (self.df + 1.)) - gen.digamma(0.5 * self.df)))

    def _mean(self):
        return self._defined_above_one("mean", self.loc * self._ones())

    def _variance(self):
        denominator = array_ops.where_v2(gen.greater(self.df, 2.), self.df - 2., array_ops.ones_like(self.df))
        variance = self._ones() * math_ops.square(self.scale) * self.df / denominator
        shape = self.batch_shape_tensor()
        infinite = array_ops.fill(shape, np.array(np.inf, dtype=self.dtype.as_numpy_dtype()), name="inf")
        two = array_ops.fill(shape, np.array(2, dtype=self.dtype.as_numpy_dtype()))
        return self._defined_above_one("variance", array_ops.where_v2(self.df > two, variance, infinite))

    def _mode(self):
        return array_ops.identity(self.loc)

    def _ones(self):
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _defined_above_one(self, what, value):
        """The statistic where df > 1; NaN, or an error, elsewhere."""
        if self.allow_nan_stats:
            return array_ops.where_v2(gen.greater(self.df, self._ones()), value,
                                      util.nan(self.batch_shape_tensor(), self.dtype))
        return control_flow_ops.with_dependencies([check_ops.assert_less(
            array_ops.ones([], dtype=self.dtype), self.df,
            message="%s not defined for components of df <= 1" % what)], value)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT of floor(|df|) and softplus(scale)."""

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True,
                 name="StudentTWithAbsDfSoftplusScale"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[df, scale]) as name:
            super().__init__(gen.floor(math_ops.abs(df)), loc, gen.softplus(scale, name="softplus_scale"),
                             validate_args, allow_nan_stats, name)
        self._parameters = parameters
