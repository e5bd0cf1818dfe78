"""Normalisation, moments, separable convolutions: compositions of nn ops."""
from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.gradient import custom_gradient
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.nn import nn_activation, nn_conv
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.nn.nn_loss import *  # noqa: F401,F403
from penstock._src.ops.nn.nn_sampled import *  # noqa: F401,F403
from penstock._src.ops.nn.nn_sampled import (  # noqa: F401  (programs build losses of them)
    _compute_sampled_logits, _sum_rows)



def relu_layer(x, weights, biases, name=None):
    """relu(x * weights + biases)."""
    with ops.name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(weights, name="weights")
        biases = ops.convert_to_tensor(biases, name="biases")
        return gen.relu(nn_activation.bias_add(math_ops.matmul(x, weights), biases), name=name)


def gelu(features, approximate=False, name=None):
    """x times the probability that a standard normal number is below x, or its approximation by tanh."""
    with ops.name_scope(name, "Gelu", [features]):
        x = ops.convert_to_tensor(features, name="features")
        if not x.dtype.is_floating:
            raise ValueError(f"`features.dtype` must be a floating point tensor. Received: {x.dtype}")
        if approximate:
            return 0.5 * x * (1.0 + math_ops.tanh(0.7978845608028654 * (x + 0.044715 * math_ops.pow(x, 3))))
        return 0.5 * x * (1.0 + math_ops.erf(x / 1.4142135623730951))


@custom_gradient.custom_gradient
def _swish(features):
    def grad(dy):
        with ops.control_dependencies([dy]):
            gate = math_ops.sigmoid(features)
        return dy * (gate * (1.0 + features * (1.0 - gate)))

    return features * math_ops.sigmoid(features), grad


def swish(features, beta=1.0):
    """x * sigmoid(beta * x). The gradient computes the sigmoid anew rather than keep it."""
    features = ops.convert_to_tensor(features, name="features")
    if isinstance(beta, (int, float)) and beta == 1.0:
        return _swish(features)
    return _swish_of_slope(features, ops.convert_to_tensor(beta, dtype=features.dtype, name="beta"))


@custom_gradient.custom_gradient
def _swish_of_slope(features, beta):
    def grad(dy):
        with ops.control_dependencies([dy]):
            gate = math_ops.sigmoid(beta * features)
        slope = gate * (1.0 - gate)
        of_beta = math_ops.reduce_sum(dy * math_ops.square(features) * slope)
        return dy * (gate + beta * features * slope), of_beta

    return features * math_ops.sigmoid(beta * features), grad


# Norms


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor over its norm, the norm)."""
    with ops.name_scope(name, "normalize", [tensor]) as name:
        tensor = ops.convert_to_tensor(tensor)
        norm = math_ops.cast(linalg_ops.norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / norm, norm


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x over the root of its sum of squares along `axis` (at least `epsilon`)."""
    return l2_normalize_v2(x, pick("axis", axis, "dim", dim), epsilon, name)


def l2_normalize_v2(x, axis=None, epsilon=1e-12, name=None):
    """x over the root of its sum of squares along `axis` (at least `epsilon`)."""
    with ops.name_scope(name, "l2_normalize", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            parts = math_ops.real(x), math_ops.imag(x)
            squares = math_ops.reduce_sum(gen.square(parts[0]) + gen.square(parts[1]), axis, keepdims=True)
            factor = gen.rsqrt(gen.maximum(squares, epsilon))
            return math_ops.complex(*(part * factor for part in parts), name=name)
        squares = math_ops.reduce_sum(gen.square(x), axis, keepdims=True)
        return gen.mul(x, gen.rsqrt(gen.maximum(squares, epsilon)), name=name)


def zero_fraction(value, name=None):
    """The fraction of elements that are zero."""
    with ops.name_scope(name, "zero_fraction", [value]):
        value = ops.convert_to_tensor(value, name="value")
        size = array_ops.size(value, out_type=dtypes.int64)

        def count(dtype):
            with ops.name_scope("count_nonzero", values=[value]):
                marks = gen.not_equal(value, array_ops.zeros([], dtype=value.dtype))
                return math_ops.reduce_sum(math_ops.cast(marks, dtype), name="nonzero_count")

        nonzero = cond_lib.cond(  # counting in int32 is faster where it is enough
            size <= dtypes.int32.max, true_fn=lambda: math_ops.cast(count(dtypes.int32), dtypes.int64),
            false_fn=lambda: count(dtypes.int64))
        with ops.name_scope("counts_to_fraction"):
            zeros = math_ops.cast(size - nonzero, dtype=dtypes.float32)
            fraction = zeros / math_ops.cast(size, dtype=dtypes.float32)
        return array_ops.identity(fraction, "fraction")


# Convolutions of each channel by itself


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None,
                     dilations=None):
    """Convolves each channel with filters of its own: [height, width, channels, multiplier]."""
    rate = pick("dilations", dilations, "rate", rate)
    with ops.name_scope(name, "depthwise", [input, filter]) as name:
        input = ops.convert_to_tensor(input, name="tensor_in")
        filter = ops.convert_to_tensor(filter, name="filter_in")
        return _depthwise(input, filter, strides, padding, rate, data_format, name)


def _depthwise(input, filter, strides, padding, rate, data_format, name):
    def op(x, _, how):
        return nn_conv.depthwise_conv2d_native(x, filter, strides, how, data_format or "NHWC", name=name)

    return nn_conv.with_space_to_batch(input=input, filter_shape=array_ops.shape(filter),
                                       dilation_rate=[1, 1] if rate is None else rate, padding=padding,
                                       data_format=data_format, op=op)


def depthwise_conv2d_v2(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolves each channel with filters of its own: [height, width, channels, multiplier]."""
    return depthwise_conv2d(input, filter, strides, padding, dilations, name, data_format)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None,
                     name=None, data_format=None, dilations=None):
    """A convolution of each channel by itself, then one across the channels at each place."""
    rate = pick("dilations", dilations, "rate", rate)
    with ops.name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = ops.convert_to_tensor(input, name="tensor_in")
        depthwise_filter = ops.convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = ops.convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = pointwise_filter.get_shape().with_rank(4)
        shape.dims[0].assert_is_compatible_with(1)
        shape.dims[1].assert_is_compatible_with(1)
        each = _depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return nn_conv.conv2d(each, pointwise_filter, [1, 1, 1, 1], padding="VALID", data_format=data_format, name=name)


def separable_conv2d_v2(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None,
                        dilations=None, name=None):
    """A convolution of each channel by itself, then one across the channels at each place."""
    return separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, dilations, name, data_format)


# Moments


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """(count, sum, sum of squares, shift) of x over `axes`, both sums of x - shift."""
    axes = list(set(axes))
    keepdims = bool(pick("keepdims", keepdims, "keep_dims", keep_dims))
    with ops.name_scope(name, "sufficient_statistics", [x, shift]):
        x = ops.convert_to_tensor(x, name="x")
        known = x.get_shape()
        if known.ndims is not None and all(known.as_list()[d] is not None for d in axes):
            count = 1
            for d in axes:
                count *= known.as_list()[d]
            count = constant_op.constant(count, dtype=x.dtype)
        else:
            sizes = array_ops.gather(math_ops.cast(array_ops.shape(x), x.dtype), axes)
            count = math_ops.reduce_prod(sizes, name="count")
        if shift is None:
            first, second = x, gen.square(x)
        else:
            shift = ops.convert_to_tensor(shift, name="shift")
            first, second = gen.sub(x, shift), gen.squared_difference(x, shift)
        first = math_ops.reduce_sum(first, axes, keepdims=keepdims, name="mean_ss")
        second = math_ops.reduce_sum(second, axes, keepdims=keepdims, name="var_ss")
        return count, first, second, shift


def sufficient_statistics_v2(x, axes, shift=None, keepdims=False, name=None):
    """(count, sum, sum of squares, shift) of x over `axes`, both sums of x - shift."""
    return sufficient_statistics(x, axes, shift, keepdims, name)


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from sufficient statistics."""
    with ops.name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = gen.reciprocal(counts, name="divisor")
        if shift is None:
            shifted = mean = gen.mul(mean_ss, divisor, name="mean")
        else:
            shifted = gen.mul(mean_ss, divisor, name="shifted_mean")
            mean = gen.add(shifted, shift, name="mean")
        variance = gen.sub(gen.mul(variance_ss, divisor), gen.square(shifted), name="variance")
        return mean, variance


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, integers; `shift` has no use.

    For the channels of images [batch, height, width, channels] the axes are [0, 1, 2], for the features of
    [batch, features] they are [0]. keepdims: whether the axes stay, with size 1. float16 is computed in float32.
    """
    del shift
    keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
    with ops.name_scope(name, "moments", [x, axes]):
        half = x.dtype == dtypes.float16  # computed in float32
        y = math_ops.cast(x, dtypes.float32) if half else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        squares = gen.squared_difference(y, gen.stop_gradient(mean))
        variance = math_ops.reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keepdims:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        if half:
            return math_ops.cast(mean, dtypes.float16), math_ops.cast(variance, dtypes.float16)
        return mean, variance


def moments_v2(x, axes, shift=None, keepdims=False, name=None):
    return moments(x, axes, shift, name, keepdims)


moments_v2.__doc__ = moments.__doc__


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, each element counted as often as its weight says."""
    keepdims = pick("keepdims", keepdims, "keep_dims", keep_dims)
    with ops.name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype == dtypes.float16
        if half:
            x = math_ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        total = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        spread = weights + array_ops.zeros_like(x)  # the weights may broadcast along the axes
        divisor = math_ops.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        if tf2.enabled():  # without weights the moments are 0
            over = gen.div_no_nan
        else:
            over, divisor = gen.mul, gen.reciprocal(divisor, name="inv_weight_sum")
        mean = over(total, divisor)
        squares = math_ops.reduce_sum(weights * gen.squared_difference(x, mean), axes, name="weighted_distsq",
                                      keepdims=True)
        result = [mean, over(squares, divisor)]
        if not keepdims:
            result = [array_ops.squeeze(value, axis=axes) for value in result]
        if half:
            result = [math_ops.cast(value, dtypes.float16) for value in result]
        return tuple(result)


def weighted_moments_v2(x, axes, frequency_weights, keepdims=False, name=None):
    """(mean, variance) of x over `axes`, each element counted as often as its weight says."""
    return weighted_moments(x, axes, frequency_weights, name, keepdims)


# Batch normalisation


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; offset and scale may be None."""
    with ops.name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = gen.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled = x * math_ops.cast(factor, x.dtype)
        rest = -mean * factor if offset is None else offset - mean * factor
        return scaled + math_ops.cast(rest, x.dtype)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
                     name=None, exponential_avg_factor=1.0):
    """(normalised x, mean, variance) by one op; in training the batch's own mean and variance are used.

    With a factor below 1, `mean` and `variance` are what was averaged before, and the results their next values.
    """
    x = ops.convert_to_tensor(x, name="input")
    scale = ops.convert_to_tensor(scale, name="scale")
    offset = ops.convert_to_tensor(offset, name="offset")
    averaged = not isinstance(exponential_avg_factor, (int, float)) or exponential_avg_factor != 1.0
    if is_training and not averaged and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    if (not is_training or averaged) and (mean is None or variance is None):
        raise ValueError("Both mean and variance must be a 1D tensor when is_training is False or "
                         f"exponential_avg_factor != 1.0. Got mean {mean!r} and variance {variance!r}")
    mean = constant_op.constant([]) if mean is None else mean
    variance = constant_op.constant([]) if variance is None else variance
    epsilon = max(epsilon, 1.001e-5)  # what cuDNN demands
    outputs = gen.fused_batch_norm_v3(x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
                                      is_training=is_training, exponential_avg_factor=exponential_avg_factor,
                                      name=name)
    return tuple(outputs)[:3]


def batch_norm_with_global_normalization(t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
                                         scale_after_normalization=None, name=None, input=None,
                                         mean=None, variance=None):
    """The oldest form of `batch_normalization`."""
    t, m, v = pick("input", input, "t", t), pick("mean", mean, "m", m), pick("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def batch_norm_with_global_normalization_v2(input, mean, variance, beta, gamma, variance_epsilon,
                                            scale_after_normalization, name=None):
    """The oldest form of `batch_normalization`."""
    return batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon,
                                                scale_after_normalization, name)
