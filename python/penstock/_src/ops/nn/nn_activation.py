"""Activations, softmax, bias, dropout, the k greatest: the layers' small parts."""
import functools
import logging
import numbers
import os

import numpy as np

from penstock._src.graph import dtypes, errors, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.random import random_ops
from penstock._src.core_ops.arguments import pick

__all__ = [
    "bias_add", "bias_add_v1", "crelu", "crelu_v2", "dropout", "dropout_v2", "in_top_k", "in_top_k_v2", "leaky_relu",
    "log_softmax", "log_softmax_v2", "nth_element", "relu6", "softmax", "softmax_v2", "top_k", "top_k_v1",
    "xw_plus_b", "xw_plus_b_v1",
]


# Bias


@functools.lru_cache(None)
def _deterministic():
    """Whether TF_DETERMINISTIC_OPS asks for bias by plain addition, as TensorFlow does then."""
    return os.environ.get("TF_DETERMINISTIC_OPS", "").lower() in ("true", "1")


def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the channels: the last dimension, or with `data_format` "NC..." the second.

    value: at least two dimensions. bias: as many elements as there are channels, of the same type.
    ValueError: another data format, or another size while a graph is built.
    """
    with ops.name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = ops.convert_to_tensor(value, name="input")
        bias = ops.convert_to_tensor(bias, dtype=value.dtype, name="bias")
        if not _deterministic():
            return gen.bias_add(value, bias, data_format=data_format or "NHWC", name=name)
        if data_format == "NCHW":
            tail = array_ops.ones(array_ops.rank(value) - 2, dtype=dtypes.int32)
            bias = array_ops.reshape(bias, array_ops.concat([[1, array_ops.size(bias)], tail], 0))
        return gen.add(value, bias, name=name)


def bias_add_v1(value, bias, name=None):
    """`bias_add` by the older op."""
    with ops.name_scope(name, "BiasAddV1", [value, bias]) as name:
        value = ops.convert_to_tensor(value, name="input")
        bias = ops.convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return gen.bias_add_v1(value, bias, name=name)


def _affine(add, scope, x, weights, biases, name):
    with ops.name_scope(name, scope, [x, weights, biases]) as name:
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(weights, name="weights")
        biases = ops.convert_to_tensor(biases, name="biases")
        return add(math_ops.matmul(x, weights), biases, name=name)


def xw_plus_b(x, weights, biases, name=None):
    """x * weights + biases."""
    return _affine(bias_add, "xw_plus_b", x, weights, biases, name)


def xw_plus_b_v1(x, weights, biases, name=None):
    """x * weights + biases."""
    return _affine(bias_add_v1, "xw_plus_b_v1", x, weights, biases, name)


# Activations


def crelu(features, name=None, axis=-1):
    """relu of the features and of their negatives, side by side."""
    with ops.name_scope(name, "CRelu", [features]) as name:
        features = ops.convert_to_tensor(features, name="features")
        return gen.relu(array_ops.concat([features, -features], axis, name=name))


def crelu_v2(features, axis=-1, name=None):
    """relu of the features and of their negatives, side by side."""
    return crelu(features, name, axis)


def relu6(features, name=None):
    """min(max(x, 0), 6)."""
    with ops.name_scope(name, "Relu6", [features]) as name:
        return gen.relu6(ops.convert_to_tensor(features, name="features"), name=name)


def leaky_relu(features, alpha=0.2, name=None):
    """max(x, 0) + alpha * min(x, 0)."""
    with ops.name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = ops.convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return gen.leaky_relu(features, alpha=alpha.item() if isinstance(alpha, np.ndarray) else alpha, name=name)


def _along(op, logits, axis, name):
    """Runs an op that works on the last dimension along another one, by exchanging the two."""
    logits = ops.convert_to_tensor(logits)
    shape = logits.get_shape()
    if not isinstance(axis, ops.Tensor) and (axis == -1 or (shape.ndims is not None and axis == shape.ndims - 1)):
        return op(logits, name=name)
    known = tensor_util.constant_value(axis) if isinstance(axis, ops.Tensor) else axis
    if known is not None and not -shape.ndims <= known < shape.ndims:
        raise errors.InvalidArgumentError(
            None, None, f"Dimension ({known}) must be in the range [{-shape.ndims}, {shape.ndims}) where "
                        f"{shape.ndims} is "
            "the number of dimensions in the input.")
    ndims = array_ops.rank(logits)
    if isinstance(axis, ops.Tensor):
        axis = array_ops.where(gen.less(axis, 0), axis + ndims, axis)
    elif axis < 0:
        axis += ndims
    rank = array_ops.rank(logits)
    axis = axis % shape.ndims

    def exchange(x, last, name=None):
        order = [math_ops.range(axis), [last], math_ops.range(axis + 1, last), [axis]]
        return array_ops.transpose(x, array_ops.concat(order, 0), name=name)

    moved = exchange(logits, math_ops.subtract(rank, 1))
    output = exchange(op(moved), math_ops.subtract(rank, 1), name=name)
    output.set_shape(shape)
    return output


def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) over its sum along an axis, the last if none is given: positive numbers that add up to 1.

    logits: float16, bfloat16, float32 or float64; the result has its shape and type.
    """
    return softmax_v2(logits, pick("axis", axis, "dim", dim), name)


def softmax_v2(logits, axis=None, name=None):
    return _along(gen.softmax, logits, -1 if axis is None else axis, name)


softmax_v2.__doc__ = softmax.__doc__


def log_softmax(logits, axis=None, name=None, dim=None):
    """log(softmax(x)) without overflow."""
    return log_softmax_v2(logits, pick("axis", axis, "dim", dim), name)


def log_softmax_v2(logits, axis=None, name=None):
    """log(softmax(x)) without overflow."""
    return _along(gen.log_softmax, logits, -1 if axis is None else axis, name)


# Dropout


def noise_shape_of(x, noise_shape):
    """The shape of the noise, with the unknown dimensions that are given taken from x."""
    if noise_shape is None:
        return array_ops.shape(x)
    try:
        given = tensor_shape.as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.ndims is None or given.ndims != x.shape.ndims:
        return noise_shape
    return tensor_shape.TensorShape([dim if size is None else size
                                     for size, dim in zip(given.as_list(), x.shape.as_list())])


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Sets the fraction `rate` (1 - keep_prob) of the elements to 0 and divides the others by 1 - rate.

    x: floats; ValueError otherwise. rate: a number or scalar in [0, 1). noise_shape: where it is 1, all elements along
      that dimension are kept or dropped together. seed: says with the graph's seed which are dropped.
    """
    try:
        dropped = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = pick("rate", rate, "keep_prob", dropped)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape=noise_shape, seed=seed, name=name)


def dropout_v2(x, rate, noise_shape=None, seed=None, name=None):
    with ops.name_scope(name, "dropout", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            if tf2.enabled():
                raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                                 f"x_dtype={x.dtype}")
            raise ValueError("x has to be a floating point tensor since it's going to be scaled. "
                             f"Got a {x.dtype} tensor instead.")
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                if tf2.enabled():
                    raise ValueError("`rate` must be a scalar tensor or a float in the range [0, 1). Received: "
                                     f"rate={rate}")
                raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
            if rate > 0.5:
                logging.getLogger("tensorflow").warning("Large dropout rate: %g (>0.5): more is dropped than kept.",
                                                        rate)
            if rate == 0:
                return x
        rate = ops.convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if tensor_util.constant_value(rate) == 0:
            return x
        noise = random_ops.random_uniform(noise_shape_of(x, noise_shape), seed=seed, dtype=x.dtype)
        kept = 1 - rate
        scale = 1 / kept
        mask = noise >= rate
        result = x * scale * math_ops.cast(mask, x.dtype)
        result.set_shape(x.get_shape())
        return result


dropout_v2.__doc__ = dropout.__doc__


# The greatest


def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):
    """(values, indices) of the k greatest elements of the last dimension."""
    return gen.top_kv2(input, k=k, sorted=sorted, index_type=index_type, name=name)


def top_k_v1(input, k=1, sorted=True, name=None):
    """(values, indices) of the k greatest elements of the last dimension; indices are int32."""
    return top_k(input, k, sorted, name=name)


def nth_element(input, n, reverse=False, name=None):
    """The n-th least element of the last dimension."""
    return gen.nth_element(input, n, reverse=reverse, name=name)


def in_top_k(predictions, targets, k, name=None):
    """Whether the prediction for each target is among the k greatest of its row."""
    with ops.name_scope(name, "in_top_k"):
        return gen.in_top_kv2(predictions, targets, k, name=name)


def in_top_k_v2(targets, predictions, k, name=None):
    """Whether the prediction for each target is among the k greatest of its row."""
    return in_top_k(predictions, targets, k, name)
