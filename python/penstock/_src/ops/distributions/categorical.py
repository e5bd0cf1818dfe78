"""One of several classes."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation, nn_loss
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution
from penstock._src.ops.distributions import kullback_leibler
from penstock._src.ops.distributions import util

__all__ = ["Categorical"]


def _broadcast_event_and_params(event, params, base_dtype):
    """Classes, and parameters of [..., classes], repeated to one shape."""
    if event.dtype.is_floating:
        event = math_ops.cast(event, dtype=dtypes.int32)
    elif not event.dtype.is_integer:
        raise TypeError("`value` should have integer `dtype` or `self.dtype` (%s)" % base_dtype)
    known = params.shape.ndims is not None and params.shape[:-1].is_fully_defined() and event.shape.is_fully_defined()
    if not known or params.shape[:-1] != event.shape:
        params *= array_ops.ones_like(event[..., array_ops.newaxis], dtype=params.dtype)
        event *= array_ops.ones(array_ops.shape(params)[:-1], dtype=event.dtype)
        if params.shape.ndims is not None:
            event.set_shape(tensor_shape.TensorShape(params.shape[:-1]))
    return event, params


class Categorical(distribution.LogitsOrProbs, distribution.Distribution):
    """Class k with probability probs[..., k], or softmax(logits)[..., k]."""

    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name)
            if validate_args:
                self._logits = util.embed_check_categorical_event_shape(self._logits)
            known = self._logits.shape.with_rank_at_least(1)
            shape = array_ops.shape(self._logits, name="logits_shape")
            if known.ndims is not None:
                self._batch_rank = constant_op.constant(known.ndims - 1, dtype=dtypes.int32, name="batch_rank")
            else:
                with ops.name_scope(name="batch_rank"):
                    self._batch_rank = array_ops.rank(self._logits) - 1
            classes = tensor_shape.dimension_value(known[-1])
            if classes is not None:
                self._event_size = constant_op.constant(classes, dtype=dtypes.int32, name="event_size")
            else:
                with ops.name_scope(name="event_size"):
                    self._event_size = shape[self._batch_rank]
            if known[:-1].is_fully_defined():
                self._batch_shape_val = constant_op.constant(known[:-1].as_list(), dtype=dtypes.int32,
                                                             name="batch_shape")
            else:
                with ops.name_scope(name="batch_shape"):
                    self._batch_shape_val = shape[:-1]
        super().__init__(dtypes.as_dtype(dtype), distribution.NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, [self._logits, self._probs], name)

    @property
    def event_size(self):
        """The number of classes, an int32 scalar."""
        return self._event_size

    def _batch_shape_tensor(self):
        return array_ops.identity(self._batch_shape_val)

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _event_shape_tensor(self):
        return constant_op.constant([], dtype=dtypes.int32)

    def _event_shape(self):
        return tensor_shape.TensorShape([])

    def _sample_n(self, n, seed=None):
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = array_ops.reshape(logits, [-1, self.event_size])
        wide = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = random_ops.multinomial(logits, n, seed=seed, output_dtype=wide)
        draws = array_ops.reshape(array_ops.transpose(draws),
                                  array_ops.concat([[n], self.batch_shape_tensor()], 0))
        return math_ops.cast(draws, self.dtype)

    def _cdf(self, k):
        k, probs = self._checked(k, self.probs)
        probs = array_ops.reshape(probs, (-1, self._event_size))
        below = array_ops.sequence_mask(array_ops.reshape(k, [-1]), self._event_size)
        cdf = math_ops.reduce_sum(array_ops.where(below, probs, array_ops.zeros_like(probs)), axis=-1)
        return array_ops.reshape(cdf, array_ops.shape(k))

    def _log_prob(self, k):
        k, logits = self._checked(k, self.logits)
        return -nn_loss.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _checked(self, k, params):
        k = ops.convert_to_tensor(k, name="k")
        if self.validate_args:
            k = util.embed_check_integer_casting_closed(k, target_dtype=dtypes.int32)
        return _broadcast_event_and_params(k, params, base_dtype=self.dtype.base_dtype)

    def _entropy(self):
        return -math_ops.reduce_sum(nn_activation.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        mode = math_ops.cast(math_ops.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


@kullback_leibler.RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a, b, name=None):
    with ops.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference = nn_activation.log_softmax(a.logits) - nn_activation.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_activation.softmax(a.logits) * difference, axis=-1)
