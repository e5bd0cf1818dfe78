"""Counts of draws from a vector of probabilities that is itself drawn."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.core_ops import special_math_ops
from penstock._src.ops.distributions import dirichlet
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import multinomial
from penstock._src.ops.distributions import util

__all__ = ["DirichletMultinomial"]


class DirichletMultinomial(multinomial.CountsOfDraws, dirichlet.VectorOfConcentrations):
    """The counts of `total_count` draws of Multinomial with probabilities of Dirichlet(concentration)."""

    _SUM_MESSAGE = "counts last-dimension must sum to `self.total_count`"

    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True,
                 name="DirichletMultinomial"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[total_count, concentration]) as name:
            self._set_total_count(total_count, validate_args)
            concentration = ops.convert_to_tensor(concentration, name="concentration")
            if validate_args:
                concentration = util.embed_check_categorical_event_shape(concentration)
                concentration = control_flow_ops.with_dependencies([check_ops.assert_positive(
                    concentration, message="Concentration parameter must be positive.")], concentration)
            self._concentration = concentration
            self._total_concentration = math_ops.reduce_sum(concentration, -1)
        super().__init__(self._concentration.dtype, distribution.NOT_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, [self._total_count, self._concentration], name)

    def _sample_n(self, n, seed=None):
        k = self.event_shape_tensor()[0]
        gamma = random_ops.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        draws = random_ops.multinomial(
            logits=array_ops.reshape(gen.log(gamma), shape=[-1, k]),
            num_samples=math_ops.cast(self.total_count, dtype=dtypes.int32),
            seed=util.gen_new_seed(seed, salt="dirichlet_multinomial"))
        counts = math_ops.reduce_sum(array_ops.one_hot(draws, depth=k), -2)
        counts = array_ops.reshape(counts, array_ops.concat([[n], self.batch_shape_tensor(), [k]], 0))
        return math_ops.cast(counts, self.dtype)

    def _log_prob(self, counts):
        counts = self._maybe_assert_valid_sample(counts)
        ordered = special_math_ops.lbeta(self.concentration + counts) - special_math_ops.lbeta(self.concentration)
        return ordered + util.log_combinations(self.total_count, counts)

    def _mean(self):
        return self.total_count * (self.concentration / self.total_concentration[..., array_ops.newaxis])

    def _variance(self):
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale_term(self):
        total = self.total_concentration[..., array_ops.newaxis]
        return math_ops.sqrt((1. + total / self.total_count) / (1. + total))
