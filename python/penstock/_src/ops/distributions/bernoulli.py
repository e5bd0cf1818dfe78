"""Bernoulli's distribution."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Bernoulli"]


class Bernoulli(distribution.LogitsOrProbs, distribution.ScalarDistribution):
    """1 with probability `probs`, else 0; or with the probability sigmoid(logits)."""

    _PARAMETERS = ("logits",)

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli"):
        parameters = dict(locals())
        with ops.name_scope(name) as name:
            self._logits, self._probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args,
                                                                  name=name)
        super().__init__(dtypes.as_dtype(dtype), distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._logits, self._probs], name)

    def _sample_n(self, n, seed=None):
        uniform = random_ops.random_uniform(array_ops.concat([[n], self.batch_shape_tensor()], 0), seed=seed,
                                            dtype=self.probs.dtype)
        return math_ops.cast(gen.less(uniform, self.probs), self.dtype)

    def _log_prob(self, event):
        if self.validate_args:
            event = util.embed_check_integer_casting_closed(event, target_dtype=dtypes.bool)
        event, logits = math_ops.cast(event, self.logits.dtype), self.logits
        if not (event.shape.is_fully_defined() and logits.shape.is_fully_defined() and event.shape == logits.shape):
            event, logits = array_ops.ones_like(logits) * event, array_ops.ones_like(event) * logits
        return -nn_loss.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self):
        return -self.logits * (math_ops.sigmoid(self.logits) - 1) + gen.softplus(-self.logits)

    def _mean(self):
        return array_ops.identity(self.probs)

    def _variance(self):
        return self._mean() * (1. - self.probs)

    def _mode(self):
        return math_ops.cast(self.probs > 0.5, self.dtype)


@kullback_leibler.RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a, b, name=None):
    with ops.name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        zero = gen.softplus(-b.logits) - gen.softplus(-a.logits)
        one = gen.softplus(b.logits) - gen.softplus(a.logits)
        return math_ops.sigmoid(a.logits) * zero + math_ops.sigmoid(-a.logits) * one
