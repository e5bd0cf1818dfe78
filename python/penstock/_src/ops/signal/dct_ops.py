"""Discrete cosine transforms."""
import math

from penstock._src.graph import gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.signal import fft_ops

__all__ = ["dct", "idct"]


def _validate(x, kind, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        length = tensor_shape.dimension_value(x.shape[-1])
        if length is not None and length < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _length(x):
    return tensor_shape.dimension_value(x.shape[-1]) or array_ops.shape(x)[-1]


def _with_length(x, n):
    """x cut or filled up with zeros to n elements."""
    have = _length(x)
    missing = gen.maximum(0, n - have) if isinstance(have, ops.Tensor) else max(0, n - have)
    return array_ops.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, missing]])[..., 0:n]


def _ortho_weights(first, rest, n):
    return array_ops.pad(array_ops.expand_dims(first, 0), [[0, n - 1]], constant_values=rest)


def _quarter_turns(n_float, zero, sign):
    """2 e^(sign i pi k / 2n)."""
    angle = math_ops.range(n_float) * math.pi * 0.5 / n_float
    return 2.0 * gen.exp(math_ops.complex(zero, sign * angle))


def _dct(x, kind, n, norm, name=None):
    with ops.name_scope(name, "dct", [x]):
        x = ops.convert_to_tensor(x)
        zero = ops.convert_to_tensor(0.0, dtype=x.dtype)
        if n is not None:
            x = _with_length(x, n)
        n = _length(x)
        n_float = math_ops.cast(n, x.dtype)
        if kind == 1:
            return math_ops.real(fft_ops.rfft(array_ops.concat([x, x[..., -2:0:-1]], axis=-1)))
        if kind == 2:
            scale = _quarter_turns(n_float, zero, -1.0)
            result = math_ops.real(fft_ops.rfft(x, fft_length=[2 * n])[..., :n] * scale)
            if norm == "ortho":
                first = 0.5 * gen.rsqrt(n_float)
                result *= _ortho_weights(first, first * math.sqrt(2.0), n)
            return result
        if kind == 3:
            if norm == "ortho":
                first = math_ops.sqrt(n_float)
                x *= _ortho_weights(first, first * math.sqrt(0.5), n)
            else:
                x *= n_float
            scale = _quarter_turns(n_float, zero, 1.0)
            return math_ops.real(fft_ops.irfft(scale * math_ops.complex(x, zero), fft_length=[2 * n]))[..., :n]
        result = _dct(x, 2, 2 * n, None)[..., 1::2]
        if norm == "ortho":
            result *= math.sqrt(0.5) * gen.rsqrt(n_float)
        return result


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The cosine transform of type I, II, III or IV along the last dimension."""
    _validate(input, type, n, axis, norm)
    return _dct(input, type, n, norm, name)


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct, but for a factor unless `norm` is 'ortho'."""
    _validate(input, type, n, axis, norm)
    return _dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm, name)
