"""The gamma distribution."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Gamma", "GammaWithSoftplusConcentrationRate"]


class OfConcentrationAndRate(distribution.FloatParameters):
    """A distribution over positive numbers that is given by a concentration and a rate."""

    _PARAMETERS = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args, allow_nan_stats, parameters, name):
        super().__init__({"concentration": concentration, "rate": rate},
                         lambda: [check_ops.assert_positive(concentration), check_ops.assert_positive(rate)],
                         validate_args, allow_nan_stats, parameters, name)

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The inverse of the scale; of the reciprocal, its scale."""
        return self._rate

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_normalization(self):
        return gen.lgamma(self.concentration) - self.concentration * gen.log(self.rate)

    def _maybe_assert_valid_sample(self, x):
        check_ops.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return control_flow_ops.with_dependencies([check_ops.assert_positive(x)], x) if self.validate_args else x


class Gamma(OfConcentrationAndRate):
    """x^(concentration - 1) exp(-x rate) rate^concentration / Gamma(concentration), for x > 0."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        super().__init__(concentration, rate, validate_args, allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return random_ops.random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype,
                                       seed=seed)

    def _log_unnormalized_prob(self, x):
        x = self._maybe_assert_valid_sample(x)
        return gen.xlogy(self.concentration - 1., x) - self.rate * x

    def _cdf(self, x):
        return gen.igamma(self.concentration, self.rate * self._maybe_assert_valid_sample(x))

    def _entropy(self):
        return (self.concentration - gen.log(self.rate) + gen.lgamma(self.concentration) +
                (1. - self.concentration) * gen.digamma(self.concentration))

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / math_ops.square(self.rate)

    def _stddev(self):
        return math_ops.sqrt(self.concentration) / self.rate

    def _mode(self):
        mode = (self.concentration - 1.) / self.rate
        if self.allow_nan_stats:
            return array_ops.where_v2(self.concentration > 1., mode, util.nan(self.batch_shape_tensor(), self.dtype))
        return control_flow_ops.with_dependencies([check_ops.assert_less(
            array_ops.ones([], self.dtype), self.concentration,
            message="mode not defined when any concentration <= 1")], mode)


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma of softplus(concentration) and softplus(rate)."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True,
                 name="GammaWithSoftplusConcentrationRate"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[concentration, rate]) as name:
            super().__init__(gen.softplus(concentration, name="softplus_concentration"),
                             gen.softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, name)
        self._parameters = parameters


@kullback_leibler.RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a, b, name=None):
    with ops.name_scope(name, "kl_gamma_gamma", values=[a.concentration, a.rate, b.concentration, b.rate]):
        return ((a.concentration - b.concentration) * gen.digamma(a.concentration) +
                gen.lgamma(b.concentration) - gen.lgamma(a.concentration) +
                b.concentration * gen.log(a.rate) - b.concentration * gen.log(b.rate) +
                a.concentration * (b.rate / a.rate - 1.))
