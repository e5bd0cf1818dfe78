"""Distributions of numbers: counts, and some of a location and a scale."""
import math

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution, gamma, util

__all__ = ["Binomial", "Cauchy", "Chi2", "Chi2WithAbsDf", "Deterministic", "Geometric", "HalfNormal", "Logistic",
           "NegativeBinomial", "Poisson"]


class Poisson(distribution.ScalarDistribution):
    """rate^k exp(-rate) / k!, the rate given by itself or by its logarithm."""

    _PARAMETERS = ("rate",)

    def __init__(self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[rate, log_rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = ops.convert_to_tensor(rate, dtype_hint=dtypes.float32, name="rate")
                with ops.control_dependencies([check_ops.assert_positive(rate)] if validate_args else []):
                    self._rate, self._log_rate = array_ops.identity(rate), gen.log(rate, name="log_rate")
            else:
                self._log_rate = ops.convert_to_tensor(log_rate, dtype_hint=dtypes.float32, name="log_rate")
                self._rate = gen.exp(self._log_rate, name="rate")
        if not self._rate.dtype.is_floating:
            raise TypeError(f"rate.dtype ({self._rate.dtype.name}) is a not a float-type.")
        super().__init__(self._rate.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._rate], name)

    @property
    def rate(self):
        """The mean."""
        return self._rate

    @property
    def log_rate(self):
        """The logarithm of the mean."""
        return self._log_rate

    def _log_prob(self, x):
        return math_ops.multiply_no_nan(self.log_rate, x) - gen.lgamma(1. + x) - self.rate

    def _cdf(self, x):
        return array_ops.where_v2(x >= 0., gen.igammac(1. + gen.maximum(x, 0.), self.rate), array_ops.zeros_like(x))

    def _mean(self):
        return array_ops.identity(self.rate)

    def _variance(self):
        return array_ops.identity(self.rate)

    def _mode(self):
        return gen.floor(self.rate)

    def _sample_n(self, n, seed=None):
        return random_ops.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


class Geometric(distribution.LogitsOrProbs, distribution.ScalarDistribution):
    """How many failures come before the first success."""

    _PARAMETERS = ("probs",)

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            with ops.control_dependencies([check_ops.assert_positive(self._probs)] if validate_args else []):
                self._probs = array_ops.identity(self._probs, name="probs")
        super().__init__(self._probs.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._probs, self._logits], name)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], array_ops.shape(self.probs)], 0)
        uniform = random_ops.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
                                            seed=seed, dtype=self.dtype)
        return gen.floor(gen.log(uniform) / gen.log1p(-self.probs))

    def _cdf(self, count):
        return array_ops.where_v2(count < 0., array_ops.zeros_like(count),
                                  -gen.expm1((1. + gen.floor(count)) * gen.log1p(-self.probs)))

    def _log_prob(self, count):
        return gen.xlogy(count, 1. - self.probs) + gen.log(self.probs)

    def _entropy(self):
        return nn_loss.sigmoid_cross_entropy_with_logits(labels=self.probs, logits=self.logits) / self.probs

    def _mean(self):
        return gen.exp(-self.logits)

    def _variance(self):
        return self._mean() / self.probs

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class Binomial(distribution.LogitsOrProbs, distribution.ScalarDistribution):
    """How many of `total_count` independent trials succeed."""

    _PARAMETERS = ("total_count", "probs")

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Binomial"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[total_count, logits, probs]) as name:
            total_count = ops.convert_to_tensor(total_count, name="total_count")
            checks = [check_ops.assert_non_negative(total_count)] if validate_args else []
            with ops.control_dependencies(checks):
                self._total_count = array_ops.identity(total_count)
            self._logits, self._probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
        super().__init__(self._probs.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._total_count, self._logits, self._probs], name)

    @property
    def total_count(self):
        """The number of trials."""
        return self._total_count

    def _log_prob(self, counts):
        failures = self.total_count - counts
        ways = gen.lgamma(1. + self.total_count) - gen.lgamma(1. + counts) - gen.lgamma(1. + failures)
        return ways + counts * gen.log(self.probs) + failures * gen.log1p(-self.probs)

    def _cdf(self, counts):
        inside = gen.betainc(*(array_ops.identity(x) + array_ops.zeros_like(counts + self.probs) for x in (
            self.total_count - counts, counts + 1., 1. - self.probs)))
        return array_ops.where_v2(counts < self.total_count, inside, array_ops.ones_like(inside))

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1 - self.probs)

    def _mode(self):
        return gen.floor((1. + self.total_count) * self.probs)


class Logistic(distribution.LocationScale):
    """The derivative of sigmoid((x - loc) / scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__({"loc": loc, "scale": scale}, lambda: [check_ops.assert_positive(scale)], validate_args,
                         allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random_ops.random_uniform(shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
                                            dtype=self.dtype, seed=seed)
        return (gen.log(uniform) - gen.log1p(-uniform)) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2. * gen.softplus(-z) - gen.log(self.scale)

    def _log_cdf(self, x):
        return -gen.softplus(-self._z(x))

    def _cdf(self, x):
        return math_ops.sigmoid(self._z(x))

    def _log_survival_function(self, x):
        return -gen.softplus(self._z(x))

    def _survival_function(self, x):
        return math_ops.sigmoid(-self._z(x))

    def _entropy(self):
        return 2 + gen.log(self.scale) + array_ops.zeros_like(self.loc)

    def _mean(self):
        return self.loc * array_ops.ones_like(self.scale)

    def _stddev(self):
        return self.scale * array_ops.ones_like(self.loc) * math.pi / math.sqrt(3)

    def _mode(self):
        return self._mean()

    def _z(self, x):
        return (x - self.loc) / self.scale


class Cauchy(distribution.LocationScale):
    """1 / (pi scale (1 + z^2)), z = (x - loc) / scale; it has no mean."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__({"loc": loc, "scale": scale}, lambda: [check_ops.assert_positive(scale)], validate_args,
                         allow_nan_stats, dict(locals()), name)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        return self._quantile(random_ops.random_uniform(shape, minval=0., maxval=1., dtype=self.dtype, seed=seed))

    def _log_prob(self, x):
        return -gen.log1p(math_ops.square(self._z(x))) - math.log(math.pi) - gen.log(self.scale)

    def _cdf(self, x):
        return gen.atan(self._z(x)) / math.pi + 0.5

    def _entropy(self):
        return math.log(4 * math.pi) + gen.log(self.scale) + array_ops.zeros_like(self.loc)

    def _quantile(self, p):
        return self.loc + self.scale * gen.tan(math.pi * (p - 0.5))

    def _mode(self):
        return self.loc * array_ops.ones_like(self.scale)

    def _mean(self):
        if self.allow_nan_stats:
            return array_ops.fill(self.batch_shape_tensor(), constant_op.constant(np.nan, self.dtype))
        raise ValueError("`mean` is undefined for Cauchy distribution.")

    def _stddev(self):
        if self.allow_nan_stats:
            return self._mean()
        raise ValueError("`stddev` is undefined for Cauchy distribution.")

    def _z(self, x):
        return (x - self.loc) / self.scale


class HalfNormal(distribution.FloatParameters):
    """The absolute value of a normal number of mean 0."""

    _PARAMETERS = ("scale",)

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        super().__init__({"scale": scale}, lambda: [check_ops.assert_positive(scale)], validate_args, allow_nan_stats,
                         dict(locals()), name)

    @property
    def scale(self):
        """The standard deviation of the normal number."""
        return self._scale

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        draws = random_ops.random_normal(shape, mean=0., stddev=1., dtype=self.dtype, seed=seed)
        return math_ops.abs(draws * self.scale)

    def _prob(self, x):
        density = math.sqrt(2 / math.pi) / self.scale * gen.exp(-0.5 * math_ops.square(x / self.scale))
        return density * math_ops.cast(x >= 0, self.dtype)

    def _cdf(self, x):
        return math_ops.erf(gen.maximum(x, 0.) / self.scale / math.sqrt(2.))

    def _entropy(self):
        return 0.5 * gen.log(math.pi * self.scale ** 2 / 2.) + 0.5

    def _mean(self):
        return self.scale * math.sqrt(2) / math.sqrt(math.pi)

    def _quantile(self, p):
        return math.sqrt(2.) * self.scale * gen.erfinv(p)

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self):
        return self.scale ** 2 * (1. - 2 / math.pi)


class Chi2(gamma.Gamma):
    """Gamma of concentration df / 2 and rate 1/2: the sum of the squares of df normal numbers."""

    _PARAMETERS = ("df",)

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[df]) as name:
            checks = [check_ops.assert_positive(df)] if validate_args else []
            with ops.control_dependencies(checks):
                self._df = array_ops.identity(df, name="df")
            super().__init__(0.5 * self._df, constant_op.constant(0.5, dtype=self._df.dtype), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters

    @property
    def df(self):
        """How many squares are summed."""
        return self._df


class Chi2WithAbsDf(Chi2):
    """`Chi2` of floor(|df|)."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2WithAbsDf"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[df]) as name:
            super().__init__(gen.floor(math_ops.abs(df, name="abs_df"), name="floor_abs_df"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class NegativeBinomial(distribution.LogitsOrProbs, distribution.ScalarDistribution):
    """How many successes come before `total_count` failures."""

    _PARAMETERS = ("total_count", "probs")

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="NegativeBinomial"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            with ops.control_dependencies([check_ops.assert_positive(total_count)] if validate_args else []):
                self._total_count = array_ops.identity(total_count)
        super().__init__(self._probs.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._total_count, self._probs, self._logits], name)

    @property
    def total_count(self):
        """The number of failures."""
        return self._total_count

    def _counts(self, x):
        return util.embed_check_nonnegative_integer_form(x) if self.validate_args else x

    def _sample_n(self, n, seed=None):
        # A Poisson number whose rate is a gamma one.
        rate = random_ops.random_gamma([n], alpha=self.total_count, beta=gen.exp(-self.logits), dtype=self.dtype,
                                       seed=seed)
        return random_ops.random_poisson(rate, shape=[], dtype=self.dtype,
                                         seed=util.gen_new_seed(seed, "negative_binom"))

    def _cdf(self, x):
        return gen.betainc(self.total_count, 1. + self._counts(x), math_ops.sigmoid(-self.logits))

    def _log_prob(self, x):
        x = self._counts(x)
        each = self.total_count * math_ops.log_sigmoid(-self.logits) + x * math_ops.log_sigmoid(self.logits)
        return each + gen.lgamma(self.total_count + x) - gen.lgamma(1. + x) - gen.lgamma(self.total_count)

    def _mean(self):
        return self.total_count * gen.exp(self.logits)

    def _mode(self):
        more = gen.maximum(self.total_count - 1., array_ops.zeros_like(self.total_count))
        return gen.floor(more * gen.exp(self.logits))

    def _variance(self):
        return self._mean() / math_ops.sigmoid(-self.logits)


class Deterministic(distribution.ScalarDistribution):
    """The one value `loc`; what differs by no more than atol + rtol |loc| is taken for it."""

    _PARAMETERS = ("loc",)

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[loc, atol, rtol]) as name:
            self._loc = ops.convert_to_tensor(loc, name="loc")
            self._atol, self._rtol = [ops.convert_to_tensor(0 if x is None else x, dtype=self._loc.dtype)
                                      for x in (atol, rtol)]
            checks = [check_ops.assert_non_negative(x, message="Argument 'tol' must be non-negative")
                      for x in (self._atol, self._rtol)] if validate_args else []
            with ops.control_dependencies(checks):
                self._slack = self._atol + self._rtol * math_ops.abs(array_ops.identity(self._loc))
        super().__init__(self._loc.dtype, distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._loc], name)

    @property
    def loc(self):
        """The value."""
        return self._loc

    @property
    def atol(self):
        """How far a value may be off."""
        return self._atol

    @property
    def rtol(self):
        """How far a value may be off, as a part of `loc`."""
        return self._rtol

    def _sample_n(self, n, seed=None):
        return array_ops.identity(self.loc) + array_ops.zeros(
            array_ops.concat([[n], self.batch_shape_tensor()], 0), self.dtype)

    def _prob(self, x):
        return math_ops.cast(math_ops.abs(x - self.loc) <= self._slack, self.dtype)

    def _cdf(self, x):
        return math_ops.cast(x >= self.loc - self._slack, self.dtype)

    def _entropy(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _mean(self):
        return array_ops.identity(self.loc)

    def _variance(self):
        return array_ops.zeros_like(self.loc)

    def _mode(self):
        return self._mean()
