"""Distribution: what all distributions share. A subclass writes `_log_prob`, `_sample_n` and their like."""
import contextlib

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Distribution", "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "ReparameterizationType"]


class ReparameterizationType:
    """Whether samples are differentiable functions of the parameters. There are two instances, equal to themselves."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return "<Reparameteriation Type: %s>" % self._rep_type

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def _value_tensor(value, dtype):
    """The argument of a density as a tensor; what is given in fractions to a distribution of integers keeps them."""
    if ops.executing_eagerly() and dtype is not None and (dtype.is_integer or dtype.is_bool):
        tensor = ops.convert_to_tensor(value, name="value")
        if tensor.dtype.is_floating:
            return tensor
    return ops.convert_to_tensor(value, name="value", preferred_dtype=dtype)


class Distribution:
    """A batch of distributions of one family.

    `batch_shape` is the shape of the parameters, broadcast together; `event_shape` that of one draw. `sample` gives
    tensors of sample_shape + batch_shape + event_shape. With `validate_args` parameters and values are checked as the
    graph runs (InvalidArgumentError); without `allow_nan_stats` an undefined mean or mode is an error rather than NaN.
    """

    def __init__(self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None,
                 graph_parents=None, name=None):
        for i, parent in enumerate(graph_parents or ()):
            if parent is None or not tensor_util.is_tensor(parent):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        if not name or name[-1] != "/":
            with ops.name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = graph_parents or []
        self._name = name

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """Parameter name -> the shape, an int32 vector, that it must have for draws of this shape."""
        with ops.name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """Parameter name -> the TensorShape that it must have for draws of this shape, which must be known."""
        if isinstance(sample_shape, tensor_shape.TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        static = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            value = tensor_util.constant_value(shape)
            if value is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            static[name] = tensor_shape.TensorShape(value)
        return static

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def name(self):
        """The name scope of its ops."""
        return self._name

    @property
    def dtype(self):
        """The type of draws."""
        return self._dtype

    @property
    def parameters(self):
        """The arguments that it was made with."""
        return {k: v for k, v in self._parameters.items() if not k.startswith("__") and k != "self"}

    @property
    def reparameterization_type(self):
        """FULLY_REPARAMETERIZED if draws have gradients by the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self):
        """Whether undefined statistics are NaN rather than errors."""
        return self._allow_nan_stats

    @property
    def validate_args(self):
        """Whether parameters and values are checked."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs):
        """One with the same arguments, but for those given here."""
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    def _absent(self, what):
        return NotImplementedError("%s is not implemented: %s" % (what, type(self).__name__))

    # Shapes.

    def _batch_shape_tensor(self):
        raise self._absent("batch_shape_tensor")

    def _batch_shape(self):
        return tensor_shape.TensorShape(None)

    def _event_shape_tensor(self):
        raise self._absent("event_shape_tensor")

    def _event_shape(self):
        return tensor_shape.TensorShape(None)

    @property
    def batch_shape(self):
        """The shape of the batch as far as it is known."""
        return tensor_shape.as_shape(self._batch_shape())

    @property
    def event_shape(self):
        """The shape of one draw as far as it is known."""
        return tensor_shape.as_shape(self._event_shape())

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape of the batch as an int32 vector."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return ops.convert_to_tensor(self.batch_shape.as_list(), dtype=dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The shape of one draw as an int32 vector."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return ops.convert_to_tensor(self.event_shape.as_list(), dtype=dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name="is_scalar_event"):
        """A bool tensor: whether a draw is one number."""
        with self._name_scope(name):
            return ops.convert_to_tensor(self._is_scalar(self.event_shape, self.event_shape_tensor),
                                         name="is_scalar_event")

    def is_scalar_batch(self, name="is_scalar_batch"):
        """A bool tensor: whether there is one distribution rather than a batch."""
        with self._name_scope(name):
            return ops.convert_to_tensor(self._is_scalar(self.batch_shape, self.batch_shape_tensor),
                                         name="is_scalar_batch")

    @staticmethod
    def _is_scalar(static_shape, shape_tensor):
        if static_shape.ndims is not None:
            return static_shape.ndims == 0
        shape = shape_tensor()
        length = tensor_shape.dimension_value(shape.shape[0]) if shape.shape.ndims is not None else None
        return length == 0 if length is not None else math_ops.equal(array_ops.shape(shape)[0], 0)

    # Draws.

    def _sample_n(self, n, seed=None):
        raise self._absent("sample_n")

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Draws: a tensor of sample_shape + batch_shape + event_shape."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape, seed, name, **kwargs):
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = ops.convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            samples = self._sample_n(n, seed, **kwargs)
            samples = array_ops.reshape(samples, array_ops.concat([sample_shape, array_ops.shape(samples)[1:]], 0))
            return self._set_sample_static_shape(samples, sample_shape)

    def _expand_sample_shape_to_vector(self, x, name):
        """The shape of draws as a vector, and their number."""
        known = tensor_util.constant_value(x)
        number = math_ops.reduce_prod(x) if known is None else np.prod(known, dtype=x.dtype.as_numpy_dtype())
        ndims = x.shape.ndims
        if ndims is None:
            x = array_ops.reshape(x, util.pick_vector(
                math_ops.equal(array_ops.rank(x), 0), np.array([1], dtype=np.int32), array_ops.shape(x)))
        elif ndims == 0:
            x = (array_ops.reshape(x, [1]) if known is None else
                 ops.convert_to_tensor(np.array([known], dtype=x.dtype.as_numpy_dtype()), name=name))
        elif ndims != 1:
            raise ValueError("Input is neither scalar nor vector.")
        return x, number

    def _set_sample_static_shape(self, x, sample_shape):
        """Draws, with what is known of their shape: three parts, of which one may have an unknown number of axes."""
        sample = tensor_shape.TensorShape(tensor_util.constant_value(sample_shape))
        batch, event = self.batch_shape, self.event_shape
        ndims = x.shape.ndims
        if ndims is None and None not in (sample.ndims, batch.ndims, event.ndims):
            ndims = sample.ndims + batch.ndims + event.ndims
            x.set_shape([None] * ndims)
        if ndims is None:
            return x
        if sample.ndims is not None:
            x.set_shape(sample.concatenate([None] * (ndims - sample.ndims)))
        if event.ndims is not None:
            x.set_shape(tensor_shape.TensorShape([None] * (ndims - event.ndims)).concatenate(event))
        if batch.ndims is not None and (sample.ndims is not None or event.ndims is not None):
            before = sample.ndims if sample.ndims is not None else ndims - batch.ndims - event.ndims
            behind = ndims - before - batch.ndims
            x.set_shape(tensor_shape.TensorShape([None] * before).concatenate(batch).concatenate([None] * behind))
        return x

    # Densities: each of a pair is computed from the other if the subclass has only that.

    def _call(self, name, value, direct, other, from_other, **kwargs):
        with self._name_scope(name, values=[value]):
            value = _value_tensor(value, self.dtype)
            try:
                return direct(value, **kwargs)
            except NotImplementedError as absent:
                try:
                    return from_other(other(value, **kwargs))
                except NotImplementedError:
                    raise absent from None

    def _log_prob(self, value):
        raise self._absent("log_prob")

    def _prob(self, value):
        raise self._absent("prob")

    def _log_cdf(self, value):
        raise self._absent("log_cdf")

    def _cdf(self, value):
        raise self._absent("cdf")

    def _log_survival_function(self, value):
        raise self._absent("log_survival_function")

    def _survival_function(self, value):
        raise self._absent("survival_function")

    def _quantile(self, value):
        raise self._absent("quantile")

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density, or mass, at `value`."""
        return self._call_log_prob(value, name)

    def _call_log_prob(self, value, name, **kwargs):
        return self._call(name, value, self._log_prob, self._prob, gen.log, **kwargs)

    def prob(self, value, name="prob"):
        """The density, or mass, at `value`."""
        return self._call_prob(value, name)

    def _call_prob(self, value, name, **kwargs):
        return self._call(name, value, self._prob, self._log_prob, gen.exp, **kwargs)

    def log_cdf(self, value, name="log_cdf"):
        """The logarithm of P[X <= value]."""
        return self._call_log_cdf(value, name)

    def _call_log_cdf(self, value, name, **kwargs):
        return self._call(name, value, self._log_cdf, self._cdf, gen.log, **kwargs)

    def cdf(self, value, name="cdf"):
        """P[X <= value]."""
        return self._call_cdf(value, name)

    def _call_cdf(self, value, name, **kwargs):
        return self._call(name, value, self._cdf, self._log_cdf, gen.exp, **kwargs)

    def log_survival_function(self, value, name="log_survival_function"):
        """The logarithm of P[X > value]."""
        return self._call_log_survival_function(value, name)

    def _call_log_survival_function(self, value, name, **kwargs):
        return self._call(name, value, self._log_survival_function, self.cdf, lambda p: gen.log1p(-p), **kwargs)

    def survival_function(self, value, name="survival_function"):
        """P[X > value]."""
        return self._call_survival_function(value, name)

    def _call_survival_function(self, value, name, **kwargs):
        return self._call(name, value, self._survival_function, self.cdf, lambda p: 1. - p, **kwargs)

    def quantile(self, value, name="quantile"):
        """The x for which P[X <= x] is `value`."""
        return self._call_quantile(value, name)

    def _call_quantile(self, value, name, **kwargs):
        with self._name_scope(name, values=[value]):
            return self._quantile(_value_tensor(value, self.dtype), **kwargs)

    # Statistics.

    def _entropy(self):
        raise self._absent("entropy")

    def _mean(self):
        raise self._absent("mean")

    def _variance(self):
        raise self._absent("variance")

    def _stddev(self):
        raise self._absent("stddev")

    def _covariance(self):
        raise self._absent("covariance")

    def _mode(self):
        raise self._absent("mode")

    def entropy(self, name="entropy"):
        """Shannon's entropy in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name="mean"):
        """The expected value."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name="variance"):
        """The variance of each number of a draw."""
        with self._name_scope(name):
            try:
                return self._variance()
            except NotImplementedError:
                try:
                    return math_ops.square(self._stddev())
                except NotImplementedError:
                    raise self._absent("variance") from None

    def stddev(self, name="stddev"):
        """The standard deviation of each number of a draw."""
        with self._name_scope(name):
            try:
                return self._stddev()
            except NotImplementedError:
                try:
                    return math_ops.sqrt(self._variance())
                except NotImplementedError:
                    raise self._absent("stddev") from None

    def covariance(self, name="covariance"):
        """The matrix of covariances of the numbers of a draw."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name="mode"):
        """The likeliest draw."""
        with self._name_scope(name):
            return self._mode()

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy of `other` under this one."""
        with self._name_scope(name):
            return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other, name="kl_divergence"):
        """KL(self || other)."""
        with self._name_scope(name):
            return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def __str__(self):
        shapes = "".join(", %s_shape=%s" % (what, shape) for what, shape in
                         (("batch", self.batch_shape), ("event", self.event_shape)) if shape.ndims is not None)
        return 'tfp.distributions.%s("%s"%s, dtype=%s)' % (type(self).__name__, self.name, shapes, self.dtype.name)

    def __repr__(self):
        return "<tfp.distributions.%s '%s' batch_shape=%s event_shape=%s dtype=%s>" % (
            type(self).__name__, self.name, self.batch_shape, self.event_shape, self.dtype.name)

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with ops.name_scope(self.name), ops.name_scope(name, values=(values or []) + self._graph_parents) as scope:
            yield scope


class ScalarDistribution(Distribution):
    """One whose draws are numbers and whose parameters, named in `_PARAMETERS`, broadcast together to the batch."""

    _PARAMETERS = ()

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {name: ops.convert_to_tensor(sample_shape, dtype=dtypes.int32) for name in cls._PARAMETERS}

    def _batch_shape_tensor(self):
        shape = array_ops.shape(getattr(self, self._PARAMETERS[-1]))
        for name in reversed(self._PARAMETERS[:-1]):
            shape = array_ops.broadcast_dynamic_shape(array_ops.shape(getattr(self, name)), shape)
        return shape

    def _batch_shape(self):
        shape = getattr(self, self._PARAMETERS[-1]).shape
        for name in reversed(self._PARAMETERS[:-1]):
            shape = array_ops.broadcast_static_shape(getattr(self, name).shape, shape)
        return shape

    def _event_shape_tensor(self):
        return ops.convert_to_tensor(np.array([], np.int32))

    def _event_shape(self):
        return tensor_shape.TensorShape([])


class FloatParameters(ScalarDistribution):
    """One that can be differentiated by its parameters, which are floats of one type: parameter p is kept as `_p`."""

    def __init__(self, values, checks, validate_args, allow_nan_stats, parameters, name):
        """values: parameter -> what is given for it; checks(): the assertions that `validate_args` asks for."""
        with ops.name_scope(name, values=list(values.values())) as name:
            with ops.control_dependencies(checks() if validate_args else []):
                tensors = {key: array_ops.identity(value, name=key) for key, value in values.items()}
                dtype = check_ops.assert_same_float_dtype(list(tensors.values()))
        for key, tensor in tensors.items():
            setattr(self, "_" + key, tensor)
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         list(tensors.values()), name)


class LocationScale(FloatParameters):
    """One of (x - loc) / scale."""

    _PARAMETERS = ("loc", "scale")

    @property
    def loc(self):
        """Where the middle of draws lies."""
        return self._loc

    @property
    def scale(self):
        """By how much draws from around 0 are stretched."""
        return self._scale


class LogitsOrProbs:
    """What distributions share that are given by logits or by probabilities: they keep both."""

    @property
    def logits(self):
        """Log-odds of the event; of classes, logarithms of what is proportional to their probabilities."""
        return self._logits

    @property
    def probs(self):
        """The probability of the event, or those of classes."""
        return self._probs
