"""Dirichlet's distribution, over vectors of probabilities."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.core_ops import special_math_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Dirichlet"]


class VectorOfConcentrations(distribution.Distribution):
    """What distributions have whose parameter is `concentration` [..., k], and whose draws are vectors of k."""

    @property
    def concentration(self):
        """The weights of classes."""
        return self._concentration

    @property
    def total_concentration(self):
        """Their sum."""
        return self._total_concentration

    def _batch_shape_tensor(self):
        return array_ops.shape(self.total_concentration)

    def _batch_shape(self):
        return self.total_concentration.shape

    def _event_shape_tensor(self):
        return array_ops.shape(self.concentration)[-1:]

    def _event_shape(self):
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _covariance(self):
        x = self._variance_scale_term() * self._mean()
        outer = math_ops.matmul(x[..., array_ops.newaxis], x[..., array_ops.newaxis, :])
        return array_ops.matrix_set_diag(-outer, self._variance())


class Dirichlet(VectorOfConcentrations):
    """prod x^(concentration - 1) / B(concentration), for x > 0 whose sum is 1."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[concentration]) as name:
            concentration = ops.convert_to_tensor(concentration, name="concentration")
            if validate_args:
                concentration = control_flow_ops.with_dependencies([
                    check_ops.assert_positive(concentration, message="Concentration parameter must be positive."),
                    check_ops.assert_rank_at_least(concentration, 1,
                                                   message="Concentration parameter must have >=1 dimensions."),
                    check_ops.assert_less(1, array_ops.shape(concentration)[-1],
                                          message="Concentration parameter must have event_size >= 2."),
                ], concentration)
            self._concentration = concentration
            self._total_concentration = math_ops.reduce_sum(concentration, -1)
        super().__init__(self._concentration.dtype, distribution.FULLY_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, [self._concentration, self._total_concentration], name)

    def _sample_n(self, n, seed=None):
        gamma = random_ops.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        return gamma / math_ops.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x):
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x):
        x = self._maybe_assert_valid_sample(x)
        return math_ops.reduce_sum(gen.xlogy(self.concentration - 1., x), -1)

    def _log_normalization(self):
        return special_math_ops.lbeta(self.concentration)

    def _entropy(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        return (self._log_normalization() +
                (self.total_concentration - k) * gen.digamma(self.total_concentration) -
                math_ops.reduce_sum((self.concentration - 1.) * gen.digamma(self.concentration), axis=-1))

    def _mean(self):
        return self.concentration / self.total_concentration[..., array_ops.newaxis]

    def _variance(self):
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (scale - x)

    def _variance_scale_term(self):
        return gen.rsqrt(1. + self.total_concentration[..., array_ops.newaxis])

    def _mode(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.) / (self.total_concentration[..., array_ops.newaxis] - k)
        if self.allow_nan_stats:
            defined = math_ops.reduce_all(self.concentration > 1., axis=-1, keepdims=True)
            return array_ops.where_v2(defined, mode, util.nan(array_ops.shape(mode), self.dtype))
        return control_flow_ops.with_dependencies([check_ops.assert_less(
            array_ops.ones([], self.dtype), self.concentration,
            message="Mode undefined when any concentration <= 1")], mode)

    def _maybe_assert_valid_sample(self, x):
        if not self.validate_args:
            return x
        return control_flow_ops.with_dependencies([
            check_ops.assert_positive(x, message="samples must be positive"),
            check_ops.assert_near(array_ops.ones([], dtype=self.dtype), math_ops.reduce_sum(x, -1),
                                  message="sample last-dimension must sum to `1`")], x)


@kullback_leibler.RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a, b, name=None):
    with ops.name_scope(name, "kl_dirichlet_dirichlet", values=[a.concentration, b.concentration]):
        total = gen.digamma(math_ops.reduce_sum(a.concentration, axis=-1, keepdims=True))
        weighted = (a.concentration - b.concentration) * (gen.digamma(a.concentration) - total)
        return (math_ops.reduce_sum(weighted, axis=-1) - special_math_ops.lbeta(a.concentration) +
                special_math_ops.lbeta(b.concentration))
