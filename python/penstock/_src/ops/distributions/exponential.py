"""The exponential distribution."""
import numpy as np

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import gamma

__all__ = ["Exponential", "ExponentialWithSoftplusRate"]


class Exponential(gamma.Gamma):
    """rate exp(-rate x), for x > 0: Gamma of concentration 1."""

    _PARAMETERS = ("rate",)

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[rate]) as name:
            rate = ops.convert_to_tensor(rate, name="rate")
        super().__init__(array_ops.ones([], dtype=rate.dtype), rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    def _log_survival_function(self, value):
        return self._log_prob(value) - gen.log(self.rate)

    def _sample_n(self, n, seed=None):
        # Zero has no logarithm.
        uniform = random_ops.random_uniform(
            array_ops.concat([[n], array_ops.shape(self.rate)], 0), minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1., seed=seed, dtype=self.dtype)
        return -gen.log(uniform) / self.rate


class ExponentialWithSoftplusRate(Exponential):
    """Exponential of softplus(rate)."""

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="ExponentialWithSoftplusRate"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[rate]) as name:
            super().__init__(gen.softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, name)
        self._parameters = parameters
