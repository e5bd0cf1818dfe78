"""Distributions of vectors: one of several classes as a vector, its relaxations, normal vectors, batches as events."""
import math

import numpy as np

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import random_ops
from penstock._src.contrib.distributions import scalar
from penstock._src.ops.distributions import categorical, distribution, kullback_leibler, util

__all__ = ["ExpRelaxedOneHotCategorical", "Independent", "MixtureSameFamily", "MultivariateNormalDiag",
           "OneHotCategorical", "RelaxedBernoulli", "RelaxedOneHotCategorical", "VectorDeterministic"]


class _Vectors(distribution.Distribution):
    """One whose parameter `_like` has the shape of a batch of draws."""

    def _batch_shape_tensor(self):
        return array_ops.shape(self._like)[:-1]

    def _batch_shape(self):
        return self._like.shape[:-1]

    def _event_shape_tensor(self):
        return array_ops.shape(self._like)[-1:]

    def _event_shape(self):
        return self._like.shape.with_rank_at_least(1)[-1:]


class OneHotCategorical(distribution.LogitsOrProbs, _Vectors):
    """`Categorical` whose draws are vectors with a one at the place of the class."""

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="OneHotCategorical"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name)
            self._like = self._logits
            self._classes = categorical.Categorical(logits=self._logits, name="classes")
        super().__init__(dtypes.as_dtype(dtype), distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._logits, self._probs], name)

    def _sample_n(self, n, seed=None):
        return array_ops.one_hot(self._classes._sample_n(n, seed), self.event_shape_tensor()[0], dtype=self.dtype)

    def _log_prob(self, x):
        log_probs = nn_activation.log_softmax(self.logits)
        return math_ops.reduce_sum(math_ops.cast(x, self.logits.dtype) * log_probs, axis=-1)

    def _entropy(self):
        return self._classes.entropy()

    def _mean(self):
        return array_ops.identity(self.probs)

    def _mode(self):
        best = math_ops.argmax_v2(self.logits, axis=-1)
        return array_ops.one_hot(best, self.event_shape_tensor()[0], dtype=self.dtype)

    def _variance(self):
        return self.probs * (1. - self.probs)

    def _covariance(self):
        p = self.probs
        return array_ops.matrix_set_diag(-math_ops.matmul(p[..., None], p[..., None, :]), p * (1. - p))


@kullback_leibler.RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(a, b, name=None):
    with ops.name_scope(name, "kl_one_hot_categorical", values=[a.logits, b.logits]):
        difference = nn_activation.log_softmax(a.logits) - nn_activation.log_softmax(b.logits)
        return math_ops.reduce_sum(a.probs * difference, axis=-1)


class ExpRelaxedOneHotCategorical(distribution.LogitsOrProbs, _Vectors):
    """Logarithms of `RelaxedOneHotCategorical`'s draws (Maddison et al., 2016)."""

    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="ExpRelaxedOneHotCategorical"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name)
            self._like = self._logits
            self._temperature = ops.convert_to_tensor(temperature, dtype=self._logits.dtype, name="temperature")
        super().__init__(self._logits.dtype, distribution.FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._logits, self._probs, self._temperature], name)

    @property
    def temperature(self):
        """How far draws are from having a single one in them: 0 is not at all."""
        return self._temperature

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        uniform = random_ops.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
                                            dtype=self.dtype, seed=seed)
        gumbel = -gen.log(-gen.log(uniform))
        return nn_activation.log_softmax((gumbel + self.logits) / self.temperature[..., None])

    def _log_prob(self, x):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        steps = self.logits - x * self.temperature[..., None]
        total = k * math_ops.reduce_logsumexp(steps, axis=-1)
        return gen.lgamma(k) + (k - 1.) * gen.log(self.temperature) + math_ops.reduce_sum(steps, axis=-1) - total


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """`OneHotCategorical` made differentiable: softmax of the logits and Gumbel noise, over a temperature."""

    def __init__(self, temperature, logits=None, probs=None, dtype=None, validate_args=False, allow_nan_stats=True,
                 name="RelaxedOneHotCategorical"):
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return gen.exp(super()._sample_n(n, seed))

    def _log_prob(self, x):
        logs = gen.log(x)
        return super()._log_prob(logs) - math_ops.reduce_sum(logs, axis=-1)


class RelaxedBernoulli(distribution.LogitsOrProbs, distribution.ScalarDistribution):
    """`Bernoulli` made differentiable: sigmoid of the logits and logistic noise, over a temperature."""

    _PARAMETERS = ("temperature", "logits")

    def __init__(self, temperature, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="RelaxedBernoulli"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            self._temperature = ops.convert_to_tensor(temperature, dtype=self._logits.dtype, name="temperature")
        super().__init__(self._logits.dtype, distribution.FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._logits, self._probs, self._temperature], name)

    @property
    def temperature(self):
        """How far draws are from 0 and 1."""
        return self._temperature

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random_ops.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
                                            dtype=self.dtype, seed=seed)
        noise = gen.log(uniform) - gen.log1p(-uniform)
        return math_ops.sigmoid((noise + self.logits) / self.temperature)

    def _z(self, y):
        """What noise gives y: a logistic number."""
        return (gen.log(y) - gen.log1p(-y)) * self.temperature - self.logits

    def _cdf(self, y):
        return math_ops.sigmoid(self._z(y))

    def _log_prob(self, y):
        z = self._z(y)
        density = -z - 2. * gen.softplus(-z) + gen.log(self.temperature)
        return density - gen.log(y) - gen.log1p(-y)


class MultivariateNormalDiag(_Vectors):
    """Vectors of independent normal numbers with means `loc` and standard deviations `scale_diag`, to each of which
    `scale_identity_multiplier` is added; without either they are 1."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalDiag"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as name:
            if loc is None and scale_diag is None:
                raise ValueError("No preferred event size: one of `loc` and `scale_diag` must be given.")
            given = [ops.convert_to_tensor(x) for x in (loc, scale_diag) if x is not None]
            dtype = given[0].dtype
            if loc is not None:
                loc = ops.convert_to_tensor(loc, dtype=dtype, name="loc")
            if scale_diag is not None:
                scale = ops.convert_to_tensor(scale_diag, dtype=dtype, name="scale_diag")
            else:
                scale = array_ops.zeros_like(loc) if scale_identity_multiplier is not None else array_ops.ones_like(loc)
            if scale_identity_multiplier is not None:
                scale += ops.convert_to_tensor(scale_identity_multiplier, dtype=dtype)[..., None]
            self._like = scale if loc is None else scale + array_ops.zeros_like(loc)
            self._loc = array_ops.zeros_like(self._like) if loc is None else loc + array_ops.zeros_like(scale)
        super().__init__(dtype, distribution.FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._loc, self._like], name)

    @property
    def loc(self):
        """The mean."""
        return self._loc

    @property
    def scale(self):
        """The standard deviations as a linear operator."""
        from penstock._src.ops.linear_operators.diagonal import LinearOperatorDiag
        return LinearOperatorDiag(self._like, is_non_singular=True)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.shape(self._like)], 0)
        return random_ops.random_normal(shape, dtype=self.dtype, seed=seed) * self._like + self._loc

    def _log_prob(self, x):
        z = (x - self._loc) / self._like
        each = -0.5 * math_ops.square(z) - 0.5 * math.log(2 * math.pi) - gen.log(math_ops.abs(self._like))
        return math_ops.reduce_sum(each, axis=-1)

    def _entropy(self):
        each = 0.5 * math.log(2 * math.pi * math.e) + gen.log(math_ops.abs(self._like))
        return math_ops.reduce_sum(each, axis=-1)

    def _mean(self):
        return array_ops.identity(self._loc)

    def _mode(self):
        return array_ops.identity(self._loc)

    def _stddev(self):
        return math_ops.abs(self._like)

    def _variance(self):
        return math_ops.square(self._like)

    def _covariance(self):
        return array_ops.matrix_diag(math_ops.square(self._like))


@kullback_leibler.RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_normal_vectors(a, b, name=None):
    with ops.name_scope(name, "kl_mvn", values=[a.loc, b.loc]):
        ratio = math_ops.square(a._like / b._like)
        distance = math_ops.square((a.loc - b.loc) / b._like)
        return 0.5 * math_ops.reduce_sum(ratio + distance - 1. - gen.log(ratio), axis=-1)


class VectorDeterministic(_Vectors, scalar.Deterministic):
    """The one vector `loc`; one whose numbers differ by no more than atol + rtol |loc| is taken for it."""

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True,
                 name="VectorDeterministic"):
        self._like = ops.convert_to_tensor(loc, name="loc")
        if validate_args and self._like.shape.ndims == 0:
            raise ValueError("Argument loc must be at least rank 1.")
        scalar.Deterministic.__init__(self, self._like, atol, rtol, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.ones_like(array_ops.shape(self.loc))], 0)
        return self.loc + array_ops.zeros(shape, self.dtype)

    def _prob(self, x):
        near = math_ops.abs(x - self.loc) <= self._slack
        return math_ops.cast(math_ops.reduce_all(near, axis=-1), self.dtype)

    def _cdf(self, x):
        raise self._absent("cdf")


class Independent(distribution.Distribution):
    """A batch as one distribution: the last `reinterpreted_batch_ndims` dimensions of the batch (by default all but the
    first) are the event's."""

    def __init__(self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None):  # noqa: N803
        parameters = dict(locals())
        self._distribution = distribution
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(0, distribution.batch_shape.ndims - 1)
        self._count = int(reinterpreted_batch_ndims)
        if not 0 <= self._count <= distribution.batch_shape.ndims:
            raise ValueError("reinterpreted_batch_ndims({}) cannot exceed distribution.batch_ndims({})".format(
                self._count, distribution.batch_shape.ndims))
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, distribution._graph_parents,
                         name or "Independent" + distribution.name)

    @property
    def distribution(self):
        """The batch."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        """How many of its dimensions are the event's."""
        return self._count

    def _split(self):
        return self.distribution.batch_shape.ndims - self._count

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor()[:self._split()]

    def _batch_shape(self):
        return self.distribution.batch_shape[:self._split()]

    def _event_shape_tensor(self):
        return array_ops.concat([self.distribution.batch_shape_tensor()[self._split():],
                                 self.distribution.event_shape_tensor()], 0)

    def _event_shape(self):
        return self.distribution.batch_shape[self._split():].concatenate(self.distribution.event_shape)

    def _sample_n(self, n, seed=None):
        return self.distribution.sample([n], seed=seed)

    def _sum(self, each):
        return math_ops.reduce_sum(each, axis=list(range(-self._count, 0))) if self._count else each

    def _log_prob(self, x):
        return self._sum(self.distribution.log_prob(x))

    def _entropy(self):
        return self._sum(self.distribution.entropy())

    def _mean(self):
        return self.distribution.mean()

    def _variance(self):
        return self.distribution.variance()

    def _stddev(self):
        return self.distribution.stddev()

    def _mode(self):
        return self.distribution.mode()


@kullback_leibler.RegisterKL(Independent, Independent)
def _kl_independent(a, b, name=None):
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independents whose events have other dimensions of the batch.")
    with ops.name_scope(name, "kl_independent"):
        return a._sum(kullback_leibler.kl_divergence(a.distribution, b.distribution))


class MixtureSameFamily(distribution.Distribution):
    """A draw of the component, along the last dimension of the batch of `components_distribution`, that
    `mixture_distribution` (a Categorical) draws."""

    def __init__(self, mixture_distribution, components_distribution, validate_args=False, allow_nan_stats=True,
                 name="MixtureSameFamily"):
        parameters = dict(locals())
        self._mixture, self._components = mixture_distribution, components_distribution
        if not mixture_distribution.dtype.is_integer:
            raise ValueError("`mixture_distribution.dtype` ({}) is not over integers".format(
                mixture_distribution.dtype.name))
        self._event_rank = components_distribution.event_shape.ndims
        super().__init__(components_distribution.dtype, distribution.NOT_REPARAMETERIZED, validate_args,
                         allow_nan_stats, parameters, [], name)

    @property
    def mixture_distribution(self):
        """What says which component a draw is of."""
        return self._mixture

    @property
    def components_distribution(self):
        """The components, along the batch's last dimension."""
        return self._components

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _batch_shape(self):
        return self._components.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _event_shape(self):
        return self._components.event_shape

    def _weights(self, values):
        """Values for each component, with dimensions behind them for the event's."""
        return array_ops.reshape(values, array_ops.concat(
            [array_ops.shape(values), array_ops.ones([self._event_rank], dtypes.int32)], 0))

    def _sample_n(self, n, seed=None):
        draws = self._components.sample(n, seed=seed)
        chosen = self._mixture.sample(n, seed=None if seed is None else seed + 1)
        shared = self._components.batch_shape.ndims - 1 - self._mixture.batch_shape.ndims  # dimensions with one draw
        chosen = array_ops.reshape(chosen, array_ops.concat([[n], [1] * shared, array_ops.shape(chosen)[1:]], 0))
        mask = self._weights(array_ops.one_hot(chosen, self._mixture.event_size, dtype=self.dtype))
        return math_ops.reduce_sum(draws * mask, axis=-1 - self._event_rank)

    def _log_prob(self, x):
        each = self._components.log_prob(array_ops.expand_dims(x, -1 - self._event_rank))
        return math_ops.reduce_logsumexp(each + nn_activation.log_softmax(self._mixture.logits), axis=-1)

    def _cdf(self, x):
        each = self._components.cdf(array_ops.expand_dims(x, -1 - self._event_rank))
        return math_ops.reduce_sum(each * self._mixture.probs, axis=-1)

    def _mean(self):
        weights = self._weights(self._mixture.probs)
        return math_ops.reduce_sum(weights * self._components.mean(), axis=-1 - self._event_rank)

    def _variance(self):
        weights, axis = self._weights(self._mixture.probs), -1 - self._event_rank
        means = self._components.mean()
        mean = math_ops.reduce_sum(weights * means, axis=axis, keepdims=True)
        return math_ops.reduce_sum(weights * (self._components.variance() + gen.squared_difference(means, mean)),
                                   axis=axis)
