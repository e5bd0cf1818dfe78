"""Pooling: the greatest or the mean of windows, in one to three dimensions."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, random_seed
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.core_ops.arguments import pick
from penstock._src.ops.nn.nn_conv import (
    channels_first, convert_padding, per_dimension, static_rank, strides_and_rate, with_space_to_batch)

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool_v2", "dilation2d_v1", "dilation2d_v2", "erosion2d",
    "erosion2d_v2", "fractional_avg_pool", "fractional_avg_pool_v2", "fractional_max_pool", "fractional_max_pool_v2",
    "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_v2", "max_pool_with_argmax_v1",
    "max_pool_with_argmax_v2", "pool", "pool_v2",
]


def _windows(n, ksize, strides, data_format, channel_index=None):
    if channel_index is None:
        channel_index = 1 if channels_first(data_format) else n + 1
    return dict(ksize=per_dimension(ksize, n, channel_index, "ksize"),
                strides=per_dimension(strides, n, channel_index, "strides"), data_format=data_format)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean of each window of images."""
    with ops.name_scope(name, "AvgPool", [value]) as name:
        value = pick("input", input, "value", value)
        return gen.avg_pool(value, padding=padding, name=name, **_windows(2, ksize, strides, data_format or "NHWC"))


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Means of windows of images."""
    with ops.name_scope(name, "AvgPool2D", [input]) as name:
        return gen.avg_pool(input, padding=padding, name=name, **_windows(2, ksize, strides, data_format or "NHWC"))


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean of each window of volumes."""
    with ops.name_scope(name, "AvgPool3D", [input]) as name:
        return gen.avg_pool3d(input, padding=padding, name=name, **_windows(3, ksize, strides, data_format or "NDHWC"))


def _max_pool(input, ksize, strides, padding, **how):
    """The op MaxPool; a padding that is a list has (before, after) for each of the 4 dimensions."""
    padding, explicit = convert_padding(padding)
    return gen.max_pool(input, ksize=ksize, strides=strides, padding=padding, explicit_paddings=explicit, **how)


def _max_pool3d(input, ksize, strides, padding, **how):
    if isinstance(padding, (list, tuple)):
        raise ValueError("Explicit padding is not supported with an input tensor of rank 5")
    return gen.max_pool3d(input, ksize=ksize, strides=strides, padding=padding, **how)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The greatest element of each window of images.

    value: [batch, height, width, channels], or [batch, channels, height, width] with `data_format` "NCHW".
    ksize, strides: the windows' size and distance: an integer, one for height and width each, or one for each
      dimension.
    padding: "SAME", "VALID", or (before, after) for each dimension. ValueError: a window of size 0.
    """
    value = pick("input", input, "value", value)
    with ops.name_scope(name, "MaxPool", [value]) as name:
        windows = _windows(2, ksize, strides, data_format or "NHWC")
        if any(np.isscalar(size) and size == 0 for size in windows["ksize"]):
            raise ValueError("ksize cannot be zero.")
        return _max_pool(value, padding=padding, name=name, **windows)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Largest elements of windows of images."""
    with ops.name_scope(name, "MaxPool2d", [input]) as name:
        return _max_pool(input, padding=padding, name=name, **_windows(2, ksize, strides, data_format or "NHWC"))


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The greatest element of each window of volumes."""
    with ops.name_scope(name, "MaxPool3D", [input]) as name:
        return gen.max_pool3d(input, padding=padding, name=name, **_windows(3, ksize, strides, data_format or "NDHWC"))


def _pool1d(op, scope, input, ksize, strides, padding, data_format, name):
    """Pools sequences as images one row high."""
    with ops.name_scope(name, scope, [input]) as name:
        data_format = data_format or "NWC"
        channel_index = 1 if channels_first(data_format) else 2
        row = 1 if data_format == "NWC" else 2
        result = op(array_ops.expand_dims_v2(input, row), ksize=[1] + per_dimension(ksize, 1, channel_index, "ksize"),
                    strides=[1] + per_dimension(strides, 1, channel_index, "strides"), padding=padding,
                    data_format="NHWC" if data_format == "NWC" else "NCHW", name=name)
        return array_ops.squeeze(result, row)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean of each window of sequences."""
    return _pool1d(gen.avg_pool, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The greatest element of each window of sequences."""
    if isinstance(padding, (list, tuple)):
        convert_padding(padding, 3)
        padding = [[0, 0], *padding]
    return _pool1d(_max_pool, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def _pool_by_rank(pool1d, pool2d, pool3d, input, ksize, strides, padding, data_format, name):
    rank = static_rank(input)
    if rank is not None:
        n = rank - 2
    elif data_format is not None:
        n = len(data_format) - 2
    else:
        raise ValueError("The input must have a rank or a data format must be given.")
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    windows = _windows(n, ksize, strides, data_format)
    if data_format is None:
        del windows["data_format"]
    return {1: pool1d, 2: pool2d, 3: pool3d}[n](input, padding=padding, name=name, **windows)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window; the rank of the input says of how many dimensions."""
    return _pool_by_rank(avg_pool1d, gen.avg_pool, gen.avg_pool3d, input, ksize, strides, padding, data_format, name)


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The greatest element of each window; the rank of the input says of how many dimensions."""
    return _pool_by_rank(max_pool1d, _max_pool, _max_pool3d, input, ksize, strides, padding, data_format, name)


def _require_nhwc(data_format, message):
    if data_format != "NHWC":
        raise ValueError(message)


def max_pool_with_argmax_v1(input, ksize, strides, padding, data_format="NHWC",
                            Targmax=None, name=None, output_dtype=None, include_batch_in_index=False):
    """(the greatest element of each window, its flat index)."""
    _require_nhwc(data_format, "Data formats other than 'NHWC' are not yet supported")
    kind = pick("output_dtype", output_dtype, "Targmax", Targmax)
    return gen.max_pool_with_argmax(input, ksize=ksize, strides=strides, padding=padding,
                                    Targmax=dtypes.int64 if kind is None else kind,
                                    include_batch_in_index=include_batch_in_index, name=name)


def max_pool_with_argmax_v2(input, ksize, strides, padding, data_format="NHWC",
                            output_dtype=dtypes.int64, include_batch_in_index=False, name=None):
    """(largest elements of windows of images, their places)."""
    return max_pool_with_argmax_v1(
        input, per_dimension(ksize, 2, 3, "ksize"), per_dimension(strides, 2, 3, "strides"), padding, data_format,
        output_dtype, name, include_batch_in_index=include_batch_in_index)


def pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None,
         name=None, data_format=None, dilations=None):
    """Pooling ("MAX" or "AVG") of one to three dimensions, with strides or dilations."""
    dilation_rate = pick("dilations", dilations, "dilation_rate", dilation_rate)
    with ops.name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = ops.convert_to_tensor(input, name="input")
        n = len(window_shape)
        if not 1 <= n <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.get_shape().with_rank(n + 2)
        strides, rate = strides_and_rate(n, strides, dilation_rate)
        if padding == "SAME" and np.any(rate > 1):
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if np.any(strides > window_shape):
            raise ValueError("strides > window_shape not supported due to inconsistency between CPU and GPU "
                             "implementations")
        if pooling_type not in ("MAX", "AVG"):
            raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
        op = {"MAX": (max_pool, max_pool3d), "AVG": (avg_pool, avg_pool3d)}[pooling_type][n == 3]
        first = 2 if channels_first(data_format) else 1
        window, steps = list(window_shape), [int(s) for s in strides]
        window, steps = ([1, 1] + x if first == 2 else [1] + x + [1] for x in (window, steps))
        if n == 1:  # a sequence is an image one row high
            if data_format not in (None, "NWC", "NCW"):
                raise ValueError('data_format must be either "NWC" or "NCW".')
            window, steps = [1] + window, [1] + steps
            data_format_2d = "NCHW" if data_format == "NCW" else "NHWC"

        def run(x, _, how):
            if n > 1:
                return op(x, window, steps, how, data_format=data_format, name=scope)
            result = op(array_ops.expand_dims(x, first), window, steps, how, data_format=data_format_2d, name=scope)
            return array_ops.squeeze(result, [first])

        return with_space_to_batch(input=input, dilation_rate=rate, padding=padding, op=run,
                                   spatial_dims=range(first, n + first), filter_shape=window_shape)


def pool_v2(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None,
            name=None):
    """Pooling ("MAX" or "AVG") of one to three dimensions, with strides or dilations."""
    return pool(input, window_shape, pooling_type, padding, dilations, strides, name, data_format)


# Pooling with pseudo-random windows


def fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0,
                        seed2=0, name=None):
    """The greatest element of windows of varying size, so that the output is smaller by a fraction."""
    return gen.fractional_max_pool(value, pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
                                   deterministic=deterministic, seed=seed, seed2=seed2, name=name)


def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0,
                        seed2=0, name=None):
    """The mean of windows of varying size, so that the output is smaller by a fraction."""
    return gen.fractional_avg_pool(value, pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
                                   deterministic=deterministic, seed=seed, seed2=seed2, name=name)


def _seeded(seed):
    if seed == 0:
        return dict(deterministic=False, seed=0, seed2=0)
    seed1, seed2 = random_seed.get_seed(seed)
    return dict(deterministic=True, seed=seed1, seed2=seed2)


def fractional_max_pool_v2(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """The greatest element of windows of varying size, so that the output is smaller by a fraction."""
    ratio = per_dimension(pooling_ratio, 2, 3, "pooling_ratio")
    return fractional_max_pool(value, ratio, pseudo_random, overlapping, name=name, **_seeded(seed))


def fractional_avg_pool_v2(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """The mean of windows of varying size, so that the output is smaller by a fraction."""
    return fractional_avg_pool(value, pooling_ratio, pseudo_random, overlapping, name=name, **_seeded(seed))


# Morphology


def dilation2d_v1(input, filter=None, strides=None, rates=None, padding=None, name=None,
                  filters=None, dilations=None):
    """Grey-scale dilation: the greatest of window plus filter."""
    filter = pick("filters", filters, "filter", filter)
    rates = pick("dilations", dilations, "rates", rates)
    return gen.dilation2d(input, filter, strides, rates, padding, name=name)


def dilation2d_v2(input, filters, strides, padding, data_format, dilations, name=None):
    """Grey-scale dilation: the greatest of window plus kernel."""
    _require_nhwc(data_format, "Data formats other than NHWC are not yet supported")
    return gen.dilation2d(input, filters, strides, dilations, padding, name=name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Grey-scale erosion: the least of window minus kernel."""
    with ops.name_scope(name, "erosion2d", [value, kernel]) as name:
        return math_ops.negative(gen.dilation2d(
            math_ops.negative(value), array_ops.reverse_v2(kernel, [0, 1]), strides, rates, padding, name=name))


def erosion2d_v2(value, filters, strides, padding, data_format, dilations, name=None):
    """Grey-scale erosion: the least of window minus kernel."""
    _require_nhwc(data_format, "Data formats other than NHWC are not yet supported")
    return erosion2d(value, filters, strides, dilations, padding, name)
