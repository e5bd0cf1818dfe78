"""Dropout that keeps mean and variance, and a softplus of adjustable sharpness."""
import numbers

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.gradient import custom_gradient
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops

_DROPPED = -1.7580993408473766  # what SELU tends to at minus infinity


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout for inputs of mean 0 and variance 1 that keeps both (https://arxiv.org/abs/1706.02515).

    keep_prob: the probability that an element is kept, in (0, 1], or a scalar tensor of x's type; ValueError else.
    noise_shape: of the flags that are drawn, x's by default. Returns a tensor of x's shape.
    """
    with ops.name_scope(name, "alpha_dropout", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.:
            raise ValueError("keep_prob must be a scalar tensor or a float in the range (0, 1], got %g" % keep_prob)
        keep_prob = ops.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.get_shape().assert_has_rank(0)
        if tensor_util.constant_value(keep_prob) == 1:
            return x
        noise_shape = array_ops.shape(x) if noise_shape is None else noise_shape
        drawn = random_ops.random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        kept = math_ops.cast(gen.greater_equal(drawn, 1 - keep_prob), x.dtype)
        x = x * kept + _DROPPED * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _DROPPED ** 2) ** -0.5
        shift = -scale * _DROPPED * (1 - keep_prob)
        return scale * x + shift


def scaled_softplus(x, alpha, clip=None, name=None):
    """`alpha * log(1 + exp(x / alpha))`, at most `clip` if that is given; tends to relu as alpha tends to 0.

    The gradient, of x, alpha and clip, is computed of the result, so that x / alpha need not be kept.
    """
    with ops.name_scope(name, "scaled_softplus", [x, alpha] + ([] if clip is None else [clip])):
        x = ops.convert_to_tensor(x, name="x")
        inputs = [x, ops.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")]
        if clip is not None:
            inputs.append(ops.convert_to_tensor(clip, dtype=x.dtype, name="clip"))
        return _scaled_softplus(*inputs)


@custom_gradient.custom_gradient
def _scaled_softplus(x, alpha, clip=None):
    y = alpha * gen.softplus(x / alpha)
    if clip is not None:
        y = gen.minimum(y, clip)

    def gradient(g):
        of_clip = []
        if clip is not None:
            below = math_ops.cast(y < clip, g.dtype)
            of_clip = [_sum_like(g * (1. - below), clip)]
            g *= below
        scaled = y / alpha
        rest = gen.exp(-scaled)
        slope = 1. - rest
        of_alpha = scaled * rest - slope * gen.log(slope + 1e-8)  # t log t tends to 0
        return [_sum_like(g * slope, x), _sum_like(g * of_alpha, alpha), *of_clip]

    return y, gradient


def _sum_like(g, x):
    """A gradient that broadcasting widened, summed to x's shape."""
    shape = array_ops.shape(x)
    axes, _ = gen.broadcast_gradient_args(shape, array_ops.shape(g))
    return array_ops.reshape(math_ops.reduce_sum(g, axes), shape)
