"""Fourier transforms, and shifts of their results."""
from penstock.framework import dtypes, gen, ops, tensor_shape, tensor_util
from penstock.ops import array_ops, manip_ops, math_ops

__all__ = ["fft", "fft2d", "fft3d", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftshift", "irfft", "irfft2d",
           "irfft3d", "rfft", "rfft2d", "rfft3d"]


def fft(input, name=None):
    """The Fourier transform along the last dimension."""
    return gen.fft(input, name=name)


def fft2d(input, name=None):
    """The Fourier transform along the last two dimensions."""
    return gen.fft2d(input, name=name)


def fft3d(input, name=None):
    """The Fourier transform along the last three dimensions."""
    return gen.fft3d(input, name=name)


def ifft(input, name=None):
    """The inverse Fourier transform along the last dimension."""
    return gen.ifft(input, name=name)


def ifft2d(input, name=None):
    """The inverse Fourier transform along the last two dimensions."""
    return gen.ifft2d(input, name=name)


def ifft3d(input, name=None):
    """The inverse Fourier transform along the last three dimensions."""
    return gen.ifft3d(input, name=name)


def _own_length(x, rank, inverse):
    """The lengths that x itself suggests."""
    known = x.get_shape()[-rank:]
    if known.is_fully_defined():
        lengths = known.as_list()
        if inverse and lengths:
            lengths[-1] = max(0, 2 * (lengths[-1] - 1))
        return ops.convert_to_tensor(lengths, dtypes.int32)
    if not inverse:
        return array_ops.shape(x)[-rank:]
    lengths = array_ops.unstack(array_ops.shape(x)[-rank:])
    lengths[-1] = math_ops.maximum(0, 2 * (lengths[-1] - 1))
    return array_ops.stack(lengths)


def _filled_up(x, rank, lengths, inverse):
    """x with zeros at the end of dimensions that are shorter than the transform."""
    wanted = tensor_util.constant_value_as_shape(lengths)
    if x.shape.ndims is not None and any(dim.value == 0 for dim in x.shape.dims):
        return x
    if wanted.is_fully_defined() and x.shape.ndims is not None:
        known = x.shape[-wanted.ndims:]
        if known.is_fully_defined():
            wanted = wanted.as_list()
            if inverse:
                wanted[-1] = wanted[-1] // 2 + 1
            paddings = [[0, max(want - have, 0)] for want, have in zip(wanted, known.as_list())]
            if any(pad for _, pad in paddings):
                return array_ops.pad(x, [[0, 0]] * max(x.shape.ndims - len(wanted), 0) + paddings)
            return x
    outer = math_ops.maximum(0, array_ops.rank(x) - rank)
    have = array_ops.shape(x)[-rank:]
    outer_paddings = array_ops.zeros([outer], lengths.dtype)
    if inverse:
        lengths = array_ops.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
    paddings = array_ops.concat([outer_paddings, math_ops.maximum(0, lengths - have)], 0)
    return array_ops.pad(x, array_ops.stack([array_ops.zeros_like(paddings), paddings], axis=1))


def _transform(x, fft_length, name, default_name, rank, inverse):
    """A transform between real and complex numbers."""
    with ops.name_scope(name, default_name, [x, fft_length]) as name:
        x = ops.convert_to_tensor(x, preferred_dtype=dtypes.complex64 if inverse else dtypes.float32)
        if inverse:
            real = dtypes.float64 if x.dtype == dtypes.complex128 else dtypes.float32
            if x.dtype not in (dtypes.complex64, dtypes.complex128):
                raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
        else:
            real = x.dtype
            if real not in (dtypes.float32, dtypes.float64):
                raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
        x.shape.with_rank_at_least(rank)
        if fft_length is None:
            fft_length = _own_length(x, rank, inverse)
        else:
            fft_length = ops.convert_to_tensor(fft_length, dtypes.int32)
        x = _filled_up(x, rank, fft_length, inverse)
        function = getattr(gen, default_name)
        if inverse:
            return function(x, fft_length, Treal=real, name=name)
        return function(x, fft_length, Tcomplex=dtypes.complex128 if real == dtypes.float64 else dtypes.complex64,
                        name=name)


def rfft(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers along the last dimension; the half that says it all."""
    return _transform(input_tensor, fft_length, name, "rfft", 1, False)


def rfft2d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers along the last two dimensions."""
    return _transform(input_tensor, fft_length, name, "rfft2d", 2, False)


def rfft3d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers along the last three dimensions."""
    return _transform(input_tensor, fft_length, name, "rfft3d", 3, False)


def irfft(input_tensor, fft_length=None, name=None):
    """The inverse of rfft."""
    return _transform(input_tensor, fft_length, name, "irfft", 1, True)


def irfft2d(input_tensor, fft_length=None, name=None):
    """The inverse of rfft2d."""
    return _transform(input_tensor, fft_length, name, "irfft2d", 2, True)


def irfft3d(input_tensor, fft_length=None, name=None):
    """The inverse of rfft3d."""
    return _transform(input_tensor, fft_length, name, "irfft3d", 3, True)


def _shift(x, axes, name, default_name, sign):
    with ops.name_scope(name, default_name) as name:
        x = ops.convert_to_tensor(x)
        if axes is None and x.shape.ndims is None:
            return manip_ops.roll(x, array_ops.shape(x) // 2 * sign, math_ops.range(array_ops.rank(x)), name)
        if axes is None:
            axes = tuple(range(x.shape.ndims))

        def half(axis):
            known = None if x.shape.ndims is None else tensor_shape.dimension_value(x.shape[axis])
            return sign * ((array_ops.shape(x)[axis] if known is None else known) // 2)

        if isinstance(axes, int):
            return manip_ops.roll(x, half(axes), axes, name)
        return manip_ops.roll(x, [half(axis) for axis in axes], axes, name)


def fftshift(x, axes=None, name=None):
    """Moves frequency 0 to the middle."""
    return _shift(x, axes, name, "fftshift", 1)


def ifftshift(x, axes=None, name=None):
    """The inverse of fftshift."""
    return _shift(x, axes, name, "ifftshift", -1)
