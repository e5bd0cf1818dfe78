"""Samples of distributions, as tf.distributions draws them."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops


def _call_sampler(sample, sample_shape, name=None):
    with ops.name_scope(name, "call_sampler", values=[sample_shape]):
        sample_shape = ops.convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        # A scalar is a vector of one.
        pad = math_ops.cast(math_ops.equal(array_ops.rank(sample_shape), 0), dtypes.int32)
        sample_shape = array_ops.reshape(
            sample_shape, array_ops.pad(array_ops.shape(sample_shape), paddings=[[pad, 0]], constant_values=1))
        samples = sample(math_ops.reduce_prod(sample_shape))
        shape = array_ops.concat([sample_shape, array_ops.shape(samples)[1:]], 0)
        return array_ops.reshape(samples, shape)


def bernoulli_sample(probs=None, logits=None, dtype=dtypes.int32, sample_shape=(), seed=None):
    """1 with the given probability, else 0."""
    if probs is None:
        probs = math_ops.sigmoid(logits, name="probs")
    else:
        probs = ops.convert_to_tensor(probs, name="probs")
    batch_shape = array_ops.shape(probs)

    def sample(n):
        shape = array_ops.concat([[n], batch_shape], 0)
        uniform = random_ops.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return math_ops.cast(gen.less(uniform, probs), dtype)

    return _call_sampler(sample, sample_shape)


def categorical_sample(logits, dtype=dtypes.int32, sample_shape=(), seed=None):
    """Classes, drawn by their logits."""
    logits = ops.convert_to_tensor(logits, name="logits")
    classes = array_ops.shape(logits)[-1]
    batch_shape = array_ops.shape(logits)[:-1]

    def sample(n):
        flat = logits if logits.shape.ndims == 2 else array_ops.reshape(logits, [-1, classes])
        kind = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        draws = random_ops.multinomial(flat, n, seed=seed, output_dtype=kind)
        draws = array_ops.reshape(array_ops.transpose(draws), array_ops.concat([[n], batch_shape], 0))
        return math_ops.cast(draws, dtype)

    return _call_sampler(sample, sample_shape)
