"""Distributions of what a bijector makes of another distribution's draws."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.distributions import distribution as distribution_lib
from penstock._src.ops.distributions import identity_bijector
from penstock._src.ops.distributions import util

__all__ = ["TransformedDistribution"]


class TransformedDistribution(distribution_lib.Distribution):
    """`bijector.forward` of draws of `distribution`.

    With `batch_shape` or `event_shape`, the draws of a distribution that is scalar in this respect are put together
    to batches or events first. ValueError if it is not scalar, or if a shape is no vector of positive numbers.
    """

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with ops.name_scope(name, values=[event_shape, batch_shape]) as name:
            if bijector is None:
                bijector = identity_bijector.Identity(validate_args=validate_args)
            self._override_batch = self._override(batch_shape, distribution.is_scalar_batch(), "batch_shape")
            self._override_event = self._override(event_shape, distribution.is_scalar_event(), "event_shape")
            # Events are drawn as samples, so they stand before the batch of a distribution that has one.
            self._rotated = 0
            if self._override_event is not None and self._override_batch is None:
                if not tensor_util.constant_value(distribution.is_scalar_batch()):
                    self._rotated = self._length(self._override_event)
        self._distribution = distribution
        self._bijector = bijector
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, distribution.allow_nan_stats,
            parameters, distribution._graph_parents + bijector.graph_parents, name)

    @staticmethod
    def _length(shape):
        return tensor_shape.dimension_value(shape.shape[0])

    def _override(self, shape, base_is_scalar, name):
        """The shape as a tensor, or None if there is none."""
        if shape is None:
            return None
        shape = ops.convert_to_tensor(shape, dtype=dtypes.int32, name=name)
        if shape.shape.ndims != 1:
            raise ValueError("shape override must be a vector")
        if self._length(shape) is None:
            raise ValueError("the number of axes of %s must be known" % name)
        if not self._length(shape):
            return None
        known = tensor_util.constant_value(shape)
        if known is not None and any(known <= 0):
            raise ValueError("shape override must have positive elements")
        if tensor_util.constant_value(base_is_scalar) is not None and not tensor_util.constant_value(base_is_scalar):
            raise ValueError("base distribution not scalar")
        return shape

    @property
    def distribution(self):
        """The distribution whose draws are mapped."""
        return self._distribution

    @property
    def bijector(self):
        """The map."""
        return self._bijector

    def _event_shape_tensor(self):
        return self.bijector.forward_event_shape_tensor(
            self.distribution.event_shape_tensor() if self._override_event is None else self._override_event)

    def _event_shape(self):
        return self.bijector.forward_event_shape(
            self.distribution.event_shape if self._override_event is None else
            tensor_util.constant_value_as_shape(self._override_event))

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor() if self._override_batch is None else self._override_batch

    def _batch_shape(self):
        if self._override_batch is None:
            return self.distribution.batch_shape
        return tensor_util.constant_value_as_shape(self._override_batch)

    def _event_ndims(self):
        known = self.event_shape.ndims
        return array_ops.size(self.event_shape_tensor()) if known is None else known

    # Draws. The bijector comes last, so that it finds its own result again when their density is asked for.

    def _sample_n(self, n, seed=None, **distribution_kwargs):
        parts = [shape for shape in (self._override_batch, self._override_event) if shape is not None]
        parts = parts + [[n]] if self._rotated else [[n]] + parts
        x = self.distribution.sample(sample_shape=array_ops.concat(parts, 0), seed=seed, **distribution_kwargs)
        return util.rotate_transpose(x, -self._rotated) if self._rotated else x

    def _call_sample_n(self, sample_shape, seed, name, bijector_kwargs=None, distribution_kwargs=None):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = ops.convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            x = self._sample_n(n, seed, **(distribution_kwargs or {}))
            x = array_ops.reshape(x, array_ops.concat([sample_shape, array_ops.shape(x)[1:]], 0))
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return self._set_sample_static_shape(y, sample_shape)

    # Densities.

    def _fibres(self, y, bijector_kwargs):
        """The points whose image is y, with the inverse's log |det J| for each, and the number of event axes."""
        kwargs, event_ndims = bijector_kwargs or {}, self._event_ndims()
        x = self.bijector.inverse(y, **kwargs)
        ildj = self.bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims, **kwargs)
        if self.bijector._is_injective:
            x, ildj = (x,), (ildj,)
        if self._rotated:
            x = tuple(util.rotate_transpose(point, self._rotated) for point in x)
        return zip(x, ildj)

    def _over_event(self, reduce, values):
        """Values of draws that are put together to events, reduced to one for each event."""
        if self._override_event is None:
            return values
        ndims = self._length(self._override_event)
        return reduce(values, axis=list(range(ndims) if self._rotated else range(-ndims, 0)))

    def _with_batch_shape(self, y, values):
        event_ndims = self._event_ndims()
        if self._override_event is not None and isinstance(event_ndims, int) and y.shape.ndims is not None:
            batch = y.shape[:y.shape.ndims - event_ndims]
            values.set_shape(array_ops.broadcast_static_shape(batch, self.batch_shape))
        return values

    def _log_prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        logs = []
        for x, ildj in self._fibres(y, bijector_kwargs):
            log = self._over_event(math_ops.reduce_sum, self.distribution.log_prob(x, **(distribution_kwargs or {})))
            logs.append(self._with_batch_shape(y, log + math_ops.cast(ildj, log.dtype)))
        return logs[0] if len(logs) == 1 else math_ops.reduce_logsumexp(array_ops.stack(logs), axis=0)

    def _prob(self, y, bijector_kwargs=None, distribution_kwargs=None):
        probs = []
        for x, ildj in self._fibres(y, bijector_kwargs):
            prob = self._over_event(math_ops.reduce_prod, self.distribution.prob(x, **(distribution_kwargs or {})))
            probs.append(self._with_batch_shape(y, prob * gen.exp(math_ops.cast(ildj, prob.dtype))))
        return sum(probs[1:], probs[0])

    def _through_inverse(self, name, value, bijector_kwargs, distribution_kwargs):
        self._refuse_overrides(name)
        x = self.bijector.inverse(value, **(bijector_kwargs or {}))
        return getattr(self.distribution, name)(x, **(distribution_kwargs or {}))

    def _refuse_overrides(self, name):
        if self._override_event is not None:
            raise NotImplementedError("%s is not implemented when overriding event_shape" % name)
        if not self.bijector._is_injective:
            raise NotImplementedError("%s is not implemented when bijector is not injective." % name)

    def _log_cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._through_inverse("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._through_inverse("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._through_inverse("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y, bijector_kwargs=None, distribution_kwargs=None):
        return self._through_inverse("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, value, bijector_kwargs=None, distribution_kwargs=None):
        self._refuse_overrides("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self):
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._override_event is not None:
            entropy *= math_ops.cast(math_ops.reduce_prod(self._override_event), entropy.dtype)
        if self._override_batch is not None:
            entropy += array_ops.zeros(self._override_batch, entropy.dtype)
        shape = array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        ildj = self.bijector.inverse_log_det_jacobian(
            array_ops.fill(shape, constant_op.constant(0, self.dtype)), event_ndims=self._event_ndims())
        entropy -= math_ops.cast(ildj, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy
