"""Counts of draws of classes."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.control_flow import map_fn
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import util

__all__ = ["Multinomial"]


class CountsOfDraws:
    """What distributions share that count the classes of `total_count` draws."""

    _SUM_MESSAGE = "counts must sum to `self.total_count`"

    def _set_total_count(self, total_count, validate_args):
        self._total_count = ops.convert_to_tensor(total_count, name="total_count")
        if validate_args:
            self._total_count = util.embed_check_nonnegative_integer_form(self._total_count)

    @property
    def total_count(self):
        """The number of draws that are counted."""
        return self._total_count

    def _maybe_assert_valid_sample(self, counts):
        if not self.validate_args:
            return counts
        counts = util.embed_check_nonnegative_integer_form(counts)
        return control_flow_ops.with_dependencies([check_ops.assert_equal(
            self.total_count, math_ops.reduce_sum(counts, -1), message=self._SUM_MESSAGE)], counts)


class Multinomial(CountsOfDraws, distribution.LogitsOrProbs, distribution.Distribution):
    """The counts of classes in `total_count` draws, class k having probability probs[..., k]."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Multinomial"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[total_count, logits, probs]) as name:
            self._set_total_count(total_count, validate_args)
            self._logits, self._probs = util.get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name)
            self._mean_val = self._total_count[..., array_ops.newaxis] * self._probs
        super().__init__(self._probs.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._total_count, self._logits, self._probs], name)

    def _batch_shape_tensor(self):
        return array_ops.shape(self._mean_val)[:-1]

    def _batch_shape(self):
        return self._mean_val.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self):
        return array_ops.shape(self._mean_val)[-1:]

    def _event_shape(self):
        return self._mean_val.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n, seed=None):
        k = self.event_shape_tensor()[0]
        draws = math_ops.cast(self.total_count, dtype=dtypes.int32)
        draws = array_ops.ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        logits = array_ops.ones_like(draws[..., array_ops.newaxis], dtype=self.logits.dtype) * self.logits

        def counts_of_one(arguments):
            logits, draws = arguments
            classes = random_ops.multinomial(logits[array_ops.newaxis, ...], draws, seed)
            classes = array_ops.reshape(classes, shape=[n, -1])
            return math_ops.cast(math_ops.reduce_sum(array_ops.one_hot(classes, depth=k), axis=-2), self.dtype)

        # The numbers of draws differ, so one distribution of the batch is sampled after the other: [batch, n, k].
        counts = map_fn.map_fn(counts_of_one, [array_ops.reshape(logits, [-1, k]), n * array_ops.reshape(draws, [-1])],
                               dtype=self.dtype)
        return array_ops.reshape(array_ops.transpose(counts, perm=[1, 0, 2]),
                                 array_ops.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts):
        return self._log_unnormalized_prob(counts) - self._log_normalization(counts)

    def _log_unnormalized_prob(self, counts):
        counts = self._maybe_assert_valid_sample(counts)
        return math_ops.reduce_sum(counts * nn_activation.log_softmax(self.logits), -1)

    def _log_normalization(self, counts):
        return -util.log_combinations(self.total_count, self._maybe_assert_valid_sample(counts))

    def _mean(self):
        return array_ops.identity(self._mean_val)

    def _covariance(self):
        outer = math_ops.matmul(self._mean_val[..., array_ops.newaxis],
                                self._repeated_probs()[..., array_ops.newaxis, :])
        return array_ops.matrix_set_diag(-outer, self._variance())

    def _variance(self):
        return self._mean_val - self._mean_val * self._repeated_probs()

    def _repeated_probs(self):
        return self.probs * array_ops.ones_like(self.total_count)[..., array_ops.newaxis]
