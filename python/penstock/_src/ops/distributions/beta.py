"""The beta distribution."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Beta", "BetaWithSoftplusConcentration"]


def _concentration(value, name, validate_args):
    value = ops.convert_to_tensor(value, name=name)
    if not validate_args:
        return value
    return control_flow_ops.with_dependencies([check_ops.assert_positive(
        value, message="Concentration parameter must be positive.")], value)


class Beta(distribution.ScalarDistribution):
    """x^(concentration1 - 1) (1 - x)^(concentration0 - 1) / B(concentration1, concentration0), for 0 < x < 1."""

    _PARAMETERS = ("concentration1", "concentration0")

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True,
                 name="Beta"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _concentration(concentration1, "concentration1", validate_args)
            self._concentration0 = _concentration(concentration0, "concentration0", validate_args)
            check_ops.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(self._total_concentration.dtype, distribution.FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters,
                         [self._concentration1, self._concentration0, self._total_concentration], name)

    @property
    def concentration1(self):
        """The weight of 1."""
        return self._concentration1

    @property
    def concentration0(self):
        """The weight of 0."""
        return self._concentration0

    @property
    def total_concentration(self):
        """concentration1 + concentration0."""
        return self._total_concentration

    def _batch_shape_tensor(self):
        return array_ops.shape(self.total_concentration)

    def _sample_n(self, n, seed=None):
        ones = array_ops.ones_like(self.total_concentration, dtype=self.dtype)
        one, zero = (random_ops.random_gamma(shape=[n], alpha=ones * concentration, dtype=self.dtype, seed=seed)
                     for concentration, seed in ((self.concentration1, seed),
                                                 (self.concentration0, util.gen_new_seed(seed, "beta"))))
        return one / (one + zero)

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        x = self._maybe_assert_valid_sample(x)
        return gen.xlogy(self.concentration1 - 1., x) + (self.concentration0 - 1.) * gen.log1p(-x)

    def _log_normalization(self):
        return (gen.lgamma(self.concentration1) + gen.lgamma(self.concentration0) -
                gen.lgamma(self.total_concentration))

    def _cdf(self, x):
        return gen.betainc(self.concentration1, self.concentration0, x)

    def _entropy(self):
        return (self._log_normalization() -
                (self.concentration1 - 1.) * gen.digamma(self.concentration1) -
                (self.concentration0 - 1.) * gen.digamma(self.concentration0) +
                (self.total_concentration - 2.) * gen.digamma(self.total_concentration))

    def _mean(self):
        return self._concentration1 / self._total_concentration

    def _variance(self):
        return self._mean() * (1. - self._mean()) / (1. + self.total_concentration)

    def _mode(self):
        mode = (self.concentration1 - 1.) / (self.total_concentration - 2.)
        if self.allow_nan_stats:
            defined = gen.logical_and(self.concentration1 > 1., self.concentration0 > 1.)
            return array_ops.where_v2(defined, mode, util.nan(self.batch_shape_tensor(), self.dtype))
        one = array_ops.ones([], dtype=self.dtype)
        return control_flow_ops.with_dependencies([
            check_ops.assert_less(one, self.concentration1, message="Mode undefined for concentration1 <= 1."),
            check_ops.assert_less(one, self.concentration0, message="Mode undefined for concentration0 <= 1.")], mode)

    def _maybe_assert_valid_sample(self, x):
        if not self.validate_args:
            return x
        return control_flow_ops.with_dependencies([
            check_ops.assert_positive(x, message="sample must be positive"),
            check_ops.assert_less(x, array_ops.ones([], self.dtype), message="sample must be less than `1`.")], x)


class BetaWithSoftplusConcentration(Beta):
    """Beta of softplus(concentration1) and softplus(concentration0)."""

    def __init__(self, concentration1, concentration0, validate_args=False, allow_nan_stats=True,
                 name="BetaWithSoftplusConcentration"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(gen.softplus(concentration1, name="softplus_concentration1"),
                             gen.softplus(concentration0, name="softplus_concentration0"),
                             validate_args, allow_nan_stats, name)
        self._parameters = parameters


@kullback_leibler.RegisterKL(Beta, Beta)
def _kl_beta_beta(a, b, name=None):
    with ops.name_scope(name, "kl_beta_beta", values=[
            a.concentration1, a.concentration0, a.total_concentration,
            b.concentration1, b.concentration0, b.total_concentration]):
        return (b._log_normalization() - a._log_normalization() -
                gen.digamma(a.concentration1) * (b.concentration1 - a.concentration1) -
                gen.digamma(a.concentration0) * (b.concentration0 - a.concentration0) +
                gen.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration))
