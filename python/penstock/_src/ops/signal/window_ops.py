"""Windows: weights that fade a frame of a signal in and out."""
import math

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import cond

__all__ = ["hamming_window", "hann_window", "kaiser_bessel_derived_window", "kaiser_window", "vorbis_window"]


def _checked(window_length, dtype):
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    window_length = ops.convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
    window_length.shape.assert_has_rank(0)
    return window_length


def _raised_cosine(name, default_name, window_length, periodic, dtype, a, b):
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with ops.name_scope(name, default_name, [window_length, periodic]):
        window_length = _checked(window_length, dtype)
        known = tensor_util.constant_value(window_length)
        if known == 1:
            return array_ops.ones([1], dtype=dtype)
        periodic = math_ops.cast(ops.convert_to_tensor(periodic, dtype=dtypes.bool, name="periodic"), dtypes.int32)
        periodic.shape.assert_has_rank(0)
        even = 1 - gen.floor_mod(window_length, 2)
        n = math_ops.cast(window_length + periodic * even - 1, dtype=dtype)
        count = math_ops.cast(math_ops.range(window_length), dtype)
        angle = constant_op.constant(2 * np.pi, dtype=dtype) * count / n
        if known is not None:
            return math_ops.cast(a - b * gen.cos(angle), dtype=dtype)
        return cond.cond(math_ops.equal(window_length, 1), lambda: array_ops.ones([1], dtype=dtype),
                         lambda: math_ops.cast(a - b * gen.cos(angle), dtype=dtype))


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.5 - 0.5 cos."""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.54 - 0.46 cos."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Kaiser's window."""
    from penstock._src.graph import gen
    with ops.name_scope(name, "kaiser_window"):
        window_length = _checked(window_length, dtype)
        if tensor_util.constant_value(window_length) == 1:
            return array_ops.ones([1], dtype=dtype)
        half = (math_ops.cast(window_length, dtype=dtypes.float32) - 1.0) / 2.0
        at = math_ops.cast(math_ops.range(-half, half + 0.1, dtype=dtypes.float32), dtype=dtype)
        beta = math_ops.cast(beta, dtype=dtype)
        one = math_ops.cast(1.0, dtype=dtype)
        half = math_ops.cast(half, dtype=dtype)
        num = beta * math_ops.sqrt(gen.relu(one - math_ops.square(at / half)))
        return gen.exp(num - beta) * (gen.bessel_i0e(num) / gen.bessel_i0e(beta))


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The window whose halves are the running sums of Kaiser's."""
    with ops.name_scope(name, "kaiser_bessel_derived_window"):
        window_length = _checked(window_length, dtype)
        sums = math_ops.cumsum(kaiser_window(window_length // 2 + 1, beta, dtype=dtype))
        half = math_ops.sqrt(sums[:-1] / sums[-1])
        return array_ops.concat((half, half[::-1]), axis=0)


def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The window of the Vorbis codec."""
    with ops.name_scope(name, "vorbis_window"):
        window_length = _checked(window_length, dtype)
        at = math_ops.cast(math_ops.range(window_length), dtype=dtype)
        wave = gen.sin(math.pi / math_ops.cast(window_length, dtype=dtype) * (at + 0.5))
        return gen.sin(math.pi / 2.0 * math_ops.pow(wave, 2.0))
