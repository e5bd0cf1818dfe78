"""The distribution of the reciprocal of a gamma-distributed number."""
from penstock._src.graph import constant_op, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import gamma, util

__all__ = ["InverseGamma", "InverseGammaWithSoftplusConcentrationRate"]


class InverseGamma(gamma.OfConcentrationAndRate):
    """x^(-1 - concentration) exp(-rate / x) rate^concentration / Gamma(concentration), for x > 0."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        super().__init__(concentration, rate, validate_args, allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        return 1. / random_ops.random_gamma(shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype,
                                            seed=seed)

    def _log_unnormalized_prob(self, x):
        x = self._maybe_assert_valid_sample(x)
        return -(1. + self.concentration) * gen.log(x) - self.rate / x

    def _cdf(self, x):
        return gen.igammac(self.concentration, self.rate / self._maybe_assert_valid_sample(x))

    def _entropy(self):
        return (self.concentration + gen.log(self.rate) + gen.lgamma(self.concentration) -
                (1. + self.concentration) * gen.digamma(self.concentration))

    def _mean(self):
        return self._defined_above(1., "mean", self.rate / (self.concentration - 1.))

    def _variance(self):
        return self._defined_above(2., "variance", math_ops.square(self.rate) / gen.squared_difference(
            self.concentration, 1.) / (self.concentration - 2.))

    def _mode(self):
        return self.rate / (1. + self.concentration)

    def _defined_above(self, bound, what, value):
        bound = constant_op.constant(bound, self.dtype)
        if self.allow_nan_stats:
            return array_ops.where_v2(self.concentration > bound, value,
                                      util.nan(self.batch_shape_tensor(), self.dtype))
        return control_flow_ops.with_dependencies([check_ops.assert_less(
            bound, self.concentration, message=f"{what} undefined when any concentration is too small")], value)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma of softplus(concentration) and softplus(rate)."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True,
                 name="InverseGammaWithSoftplusConcentrationRate"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[concentration, rate]) as name:
            super().__init__(gen.softplus(concentration, name="softplus_concentration"),
                             gen.softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, name)
        self._parameters = parameters
