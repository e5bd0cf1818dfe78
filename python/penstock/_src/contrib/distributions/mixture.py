"""Mixtures of any distributions, batches in another shape, draws rounded up, and chains of draws."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.distributions import categorical, distribution as distribution_lib, util

__all__ = ["Autoregressive", "BatchReshape", "Mixture", "QuantizedDistribution"]


class Mixture(distribution_lib.Distribution):
    """A draw of the one of `components` that `cat`, a Categorical, draws. All have the same batch and event shapes.

    TypeError for what are no distributions of one type, ValueError for none, or for another number than `cat` has
    classes, or for other shapes.
    """

    def __init__(self, cat, components, validate_args=False, allow_nan_stats=True, use_static_graph=False,
                 name="Mixture"):
        parameters = dict(locals())
        if not isinstance(cat, categorical.Categorical):
            raise TypeError("cat must be a Categorical distribution, but saw: %s" % cat)
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, (list, tuple)):
            raise TypeError("components must be a list or tuple, but saw: %s" % components)
        if not all(isinstance(c, distribution_lib.Distribution) for c in components):
            raise TypeError("all entries in components must be Distribution instances but saw: %s" % components)
        dtype = components[0].dtype
        if any(c.dtype != dtype for c in components):
            raise TypeError("All components must have the same dtype, but saw dtypes: %s" %
                            [(c.name, c.dtype) for c in components])
        self._static_batch, self._static_event = cat.batch_shape, components[0].event_shape
        for c in components:
            self._static_batch = self._static_batch.merge_with(c.batch_shape)
            self._static_event = self._static_event.merge_with(c.event_shape)
        if self._static_event.ndims is None:
            raise ValueError("Expected to know rank(event_shape) from components, but none of the components provide "
                             "a static number of ndims")
        with ops.name_scope(name, values=[cat.logits]) as name:
            known = tensor_util.constant_value(cat.event_size)
            if known is None:
                raise ValueError("Could not infer number of classes from cat and unable to compare this value to the "
                                 "number of components passed in.")
            if int(known) != len(components):
                raise ValueError("cat.num_classes != len(components): %d vs. %d" % (known, len(components)))
            self._checks = []
            if validate_args:
                self._checks = [check_ops.assert_equal(
                    cat.batch_shape_tensor(), c.batch_shape_tensor(),
                    message="components[%d] batch shape must match cat batch shape" % i)
                    for i, c in enumerate(components)]
        self._cat = cat
        self._components = list(components)
        self._use_static_graph = use_static_graph
        parents = cat._graph_parents + [parent for c in components for parent in c._graph_parents]
        super().__init__(dtype, distribution_lib.NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         parents, name)

    @property
    def cat(self):
        """What says which component a draw is of."""
        return self._cat

    @property
    def components(self):
        """The distributions."""
        return self._components

    @property
    def num_components(self):
        """How many there are."""
        return len(self._components)

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _batch_shape(self):
        return self._static_batch

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _event_shape(self):
        return self._static_event

    def _weights(self, function=nn_activation.softmax):
        return array_ops.unstack(function(self.cat.logits), num=self.num_components, axis=-1)

    def _event_weights(self):
        """The weights with axes of size 1 behind them for those of the event."""
        index = (Ellipsis,) + (None,) * self._static_event.ndims
        return [weight[index] for weight in self._weights()]

    def _mean(self):
        with ops.control_dependencies(self._checks):
            return math_ops.add_n([w * c.mean() for w, c in zip(self._event_weights(), self.components)])

    def _stddev(self):
        with ops.control_dependencies(self._checks):
            weights, means = self._event_weights(), [c.mean() for c in self.components]
            mean = math_ops.add_n([w * m for w, m in zip(weights, means)])
            variances = [w * (math_ops.square(c.stddev()) + gen.squared_difference(m, mean))
                         for w, m, c in zip(weights, means, self.components)]
            return math_ops.sqrt(math_ops.add_n(variances))

    def _log_of_sum(self, logs):
        with ops.control_dependencies(self._checks):
            weights = self._weights(nn_activation.log_softmax)
            return math_ops.reduce_logsumexp(array_ops.stack([w + log for w, log in zip(weights, logs)]), axis=0)

    def _log_prob(self, x):
        return self._log_of_sum([c.log_prob(x) for c in self.components])

    def _log_cdf(self, x):
        return self._log_of_sum([c.log_cdf(x) for c in self.components])

    def _sample_n(self, n, seed=None):
        with ops.control_dependencies(self._checks):
            chosen = self.cat.sample(n, seed=seed)
            seeds = []
            for _ in self.components:
                seed = util.gen_new_seed(seed, "mixture")
                seeds.append(seed)
            if self._use_static_graph:
                return self._chosen_of_all(n, chosen, seeds)
            return self._drawn_as_needed(n, chosen, seeds)

    def _chosen_of_all(self, n, chosen, seeds):
        """Draws of all components, of which the chosen ones are kept: gradients go through them."""
        axis = -1 - self._static_event.ndims
        draws = array_ops.stack([c.sample(n, seed=seed) for c, seed in zip(self.components, seeds)], axis=axis)
        mask = array_ops.one_hot(chosen, self.num_components, dtype=self.dtype)
        return math_ops.reduce_sum(draws * mask[(Ellipsis,) + (None,) * self._static_event.ndims], axis=axis)

    def _drawn_as_needed(self, n, chosen, seeds):
        """Draws of each component, as many as were chosen, put where they belong."""
        shape, event = array_ops.shape(chosen), self.event_shape_tensor()
        batch_size = math_ops.reduce_prod(self.batch_shape_tensor())
        places = array_ops.reshape(math_ops.range(array_ops.size(chosen)), shape)
        in_batch = array_ops.reshape(math_ops.range(array_ops.size(chosen)) % gen.maximum(batch_size, 1), shape)
        places = gen.dynamic_partition(places, chosen, self.num_components)
        in_batch = gen.dynamic_partition(in_batch, chosen, self.num_components)
        parts = []
        for component, place, which, seed in zip(self.components, places, in_batch, seeds):
            count = array_ops.size(place)
            draws = array_ops.reshape(component.sample(count, seed=seed),
                                      array_ops.concat([[count * batch_size], event], 0))
            parts.append(array_ops.gather(draws, batch_size * math_ops.range(count) + which))
        draws = array_ops.reshape(gen.dynamic_stitch(places, parts), array_ops.concat([shape, event], 0))
        draws.set_shape(chosen.shape.concatenate(self.event_shape))
        return draws

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """The mean of the components' entropies, which the mixture's is not below."""
        with self._name_scope(name, values=[self.cat.logits]), ops.control_dependencies(self._checks):
            return math_ops.add_n([w * c.entropy() for w, c in zip(self._weights(), self.components)])


class BatchReshape(distribution_lib.Distribution):
    """A distribution whose batch has another shape of as many numbers; one size may be -1.

    ValueError for a shape that is no vector, has no place for the batch, or holds a size below 1 other than one -1.
    """

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with ops.name_scope(name, values=[batch_shape]) as name:
            given = ops.convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            if given.shape.ndims not in (None, 1):
                raise ValueError("`batch_shape` must be a vector (saw rank: %d)." % given.shape.ndims)
            known = tensor_util.constant_value(given)
            size = distribution.batch_shape.num_elements()
            if known is not None:
                if np.sum(known == -1) > 1 or np.any(known < -1) or np.any(known == 0):
                    raise ValueError("`batch_shape` elements must be >=-1, and at most one -1 (saw %s)." % known)
                if -1 in known and size is not None:
                    known = np.where(known == -1, size // max(1, -int(np.prod(known))), known)
                if size is not None and -1 not in known and int(np.prod(known)) != size:
                    raise ValueError("`batch_shape` size (%d) must match `distribution.batch_shape` size (%d)." %
                                     (np.prod(known), size))
            if known is not None and -1 not in known:
                self._shape = ops.convert_to_tensor(known.astype(np.int32), name="batch_shape")
            else:
                size = math_ops.reduce_prod(distribution.batch_shape_tensor())
                rest = size // gen.maximum(1, -math_ops.reduce_prod(given))
                self._shape = array_ops.where_v2(math_ops.equal(given, -1), rest, given)
        self._distribution = distribution
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats,
                         parameters, [given] + distribution._graph_parents, name)

    @property
    def distribution(self):
        """The distribution with the batch as it was."""
        return self._distribution

    def _batch_shape_tensor(self):
        return array_ops.identity(self._shape)

    def _batch_shape(self):
        return tensor_util.constant_value_as_shape(self._shape)

    def _event_shape_tensor(self):
        return self.distribution.event_shape_tensor()

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        draws = self.distribution.sample(sample_shape=n, seed=seed)
        return array_ops.reshape(draws, array_ops.concat([[n], self._shape, self.event_shape_tensor()], axis=0))

    def _of_value(self, method, x):
        event = self.event_shape_tensor()
        sample = array_ops.shape(x)[:array_ops.rank(x) - array_ops.size(self._shape) - array_ops.size(event)]
        inner = array_ops.reshape(x, array_ops.concat([sample, self.distribution.batch_shape_tensor(), event], axis=0))
        return array_ops.reshape(method(inner), array_ops.concat([sample, self._shape], axis=0))

    def _of_batch(self, value, events=1):
        shapes = [self._shape] + [self.event_shape_tensor()] * events
        return array_ops.reshape(value, array_ops.concat(shapes, axis=0))

    def _log_prob(self, x):
        return self._of_value(self.distribution.log_prob, x)

    def _prob(self, x):
        return self._of_value(self.distribution.prob, x)

    def _log_cdf(self, x):
        return self._of_value(self.distribution.log_cdf, x)

    def _cdf(self, x):
        return self._of_value(self.distribution.cdf, x)

    def _log_survival_function(self, x):
        return self._of_value(self.distribution.log_survival_function, x)

    def _survival_function(self, x):
        return self._of_value(self.distribution.survival_function, x)

    def _entropy(self):
        return self._of_batch(self.distribution.entropy(), events=0)

    def _mean(self):
        return self._of_batch(self.distribution.mean())

    def _mode(self):
        return self._of_batch(self.distribution.mode())

    def _stddev(self):
        return self._of_batch(self.distribution.stddev())

    def _variance(self):
        return self._of_batch(self.distribution.variance())

    def _covariance(self):
        return self._of_batch(self.distribution.covariance(), events=2)


class QuantizedDistribution(distribution_lib.Distribution):
    """Draws rounded up to whole numbers; those beyond `low` and `high` are these."""

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[low, high]) as name:
            self._validate_args = validate_args
            self._distribution = distribution
            given = [None if x is None else ops.convert_to_tensor(x, dtype=distribution.dtype, name=key)
                     for key, x in (("low", low), ("high", high))]
            checks = []
            if validate_args and None not in (low, high):
                checks = [check_ops.assert_less(*given, message="low must be strictly less than high.")]
            with ops.control_dependencies(checks):
                self._low, self._high = [None if x is None else self._whole(x) for x in given]
        parents = distribution._graph_parents + [x for x in (self._low, self._high) if x is not None]
        super().__init__(distribution.dtype, distribution_lib.NOT_REPARAMETERIZED, validate_args,
                         distribution.allow_nan_stats, parameters, parents, name)

    @property
    def distribution(self):
        """What is rounded."""
        return self._distribution

    @property
    def low(self):
        """The smallest value; None is no bound."""
        return self._low

    @property
    def high(self):
        """The largest value; None is no bound."""
        return self._high

    def _whole(self, value):
        value = array_ops.identity(ops.convert_to_tensor(value, name="value"))
        if not self._validate_args:
            return value
        check = util.assert_integer_form(value, message="value has non-integer components.")
        return control_flow_ops.with_dependencies([check], value)

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self):
        return self.distribution.batch_shape

    def _event_shape_tensor(self):
        return self.distribution.event_shape_tensor()

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        draws = gen.ceil(self.distribution.sample(n, seed=seed))
        if self._low is not None:
            draws = gen.maximum(draws, self._low)
        return draws if self._high is None else gen.minimum(draws, self._high)

    def _bounded(self, method, at, below, from_high):
        """A function of the distribution, which has one value below `low` and another from `high` on."""
        result = method(at)
        at += array_ops.zeros_like(result)
        if self._low is not None:
            result = array_ops.where_v2(at < self._low, below * array_ops.ones_like(result), result)
        if self._high is not None:
            result = array_ops.where_v2(at >= self._high, from_high * array_ops.ones_like(result), result)
        return result

    def _log_cdf(self, y):
        return self._bounded(self.distribution.log_cdf, gen.floor(y), -np.inf, 0.)

    def _cdf(self, y):
        return self._bounded(self.distribution.cdf, gen.floor(y), 0., 1.)

    def _log_survival_function(self, y):
        return self._bounded(self.distribution.log_survival_function, gen.ceil(y), 0., -np.inf)

    def _survival_function(self, y):
        return self._bounded(self.distribution.survival_function, gen.ceil(y), 1., 0.)

    def _prob(self, y):
        y = self._whole(y)
        above, cdf = self.survival_function(y), self.cdf(y)
        # The difference of the two smaller numbers keeps more digits.
        return array_ops.where_v2(above < cdf, self.survival_function(y - 1) - above, cdf - self.cdf(y - 1))

    def _log_prob(self, y):
        y = self._whole(y)
        above, cdf = self.log_survival_function(y), self.log_cdf(y)
        big = array_ops.where_v2(above < cdf, self.log_survival_function(y - 1), cdf)
        small = array_ops.where_v2(above < cdf, above, self.log_cdf(y - 1))
        return gen.log(1. - gen.exp(small - big)) + big


class Autoregressive(distribution_lib.Distribution):
    """Draws in which each number depends on those before it: `distribution_fn(draws)` is the distribution of the next.

    It begins with `sample0`, or without an argument, and goes `num_steps` steps, by default one for each number of an
    event. ValueError if that is not known, or below 1.
    """

    def __init__(self, distribution_fn, sample0=None, num_steps=None, validate_args=False, allow_nan_stats=True,
                 name="Autoregressive"):
        parameters = dict(locals())
        with ops.name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
            if num_steps < 1:
                raise ValueError("num_steps (%s) must be at least 1." % num_steps)
            self._num_steps = num_steps
        first = self._distribution0
        super().__init__(first.dtype, first.reparameterization_type, validate_args, allow_nan_stats, parameters,
                         first._graph_parents, name)

    @property
    def distribution_fn(self):
        """What gives the distribution of the next number."""
        return self._distribution_fn

    @property
    def sample0(self):
        """What it begins with."""
        return self._sample0

    @property
    def num_steps(self):
        """How many times it draws after the first."""
        return self._num_steps

    @property
    def distribution0(self):
        """The distribution of the first draws."""
        return self._distribution0

    def _batch_shape(self):
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self):
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self):
        return self.distribution0.event_shape

    def _event_shape_tensor(self):
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        # The same seed in all steps: numbers that are already settled must come out again as they were.
        if seed is None:
            seed = util.gen_new_seed(np.random.randint(2 ** 32 - 1), salt="autoregressive")
        draws = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            draws = self.distribution_fn(draws).sample(seed=seed)
        return draws

    def _log_prob(self, value):
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value):
        return self.distribution_fn(value).prob(value)
