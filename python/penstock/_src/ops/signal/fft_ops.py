"""Fourier transforms, and shifts of their results."""
from penstock._src.graph import dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.core_ops import array_ops, manip_ops, math_ops

__all__ = ["fft", "fft2d", "fft3d", "fftnd", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftnd", "ifftshift", "irfft",
           "irfft2d", "irfft3d", "irfftnd", "rfft", "rfft2d", "rfft3d", "rfftnd"]


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
    lengths[-1] = gen.maximum(0, 2 * (lengths[-1] - 1))
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
    outer = gen.maximum(0, array_ops.rank(x) - rank)
    have = array_ops.shape(x)[-rank:]
    outer_paddings = array_ops.zeros([outer], lengths.dtype)
    if inverse:
        lengths = array_ops.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
    paddings = array_ops.concat([outer_paddings, gen.maximum(0, lengths - have)], 0)
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


def _fitted(x, n):
    """x cut or filled up with zeros to n elements along the last dimension."""
    if x.shape.dims[-1].value == n:
        return x
    x = x[..., :n]
    return array_ops.pad(x, [[0, 0]] * (x.shape.ndims - 1) + [[0, n - array_ops.shape(x)[-1]]])


def _along(x, axis, transform):
    """A transform of the last dimension along another one."""
    order = [i for i in range(x.shape.ndims) if i != axis] + [axis]
    if order[-1] == len(order) - 1 == axis:
        return transform(x)
    back = sorted(range(len(order)), key=order.__getitem__)
    return array_ops.transpose(transform(array_ops.transpose(x, order)), back)


# By which power of the number of elements the forward transform is divided.
_PARTS = {None: 0.0, "backward": 0.0, "ortho": 0.5, "forward": 1.0}


def _along_all(x, fft_length, axes, norm, name, default_name):
    """A transform along any axes, one axis after the other: the last one is where a spectrum of real numbers is half.
    """
    with ops.name_scope(name, default_name, [x]) as name:
        x = ops.convert_to_tensor(x)
        rank = x.shape.ndims
        if rank is None:
            raise ValueError(f"{default_name} needs a tensor of known rank.")
        if norm not in _PARTS:
            raise ValueError(f"Unknown norm: {norm!r}. It must be 'backward', 'ortho' or 'forward'.")
        if axes is None:
            axes = range(-(rank if fft_length is None else len(fft_length)), 0)
        axes = [int(axis) for axis in axes]
        if not axes or any(not -rank <= axis < rank for axis in axes) or len({a % rank for a in axes}) < len(axes):
            raise ValueError(f"axes must be different dimensions of the input of rank {rank}, but are {axes}.")
        axes = [axis % rank for axis in axes]
        real, inverse = "rfft" in default_name, default_name.startswith("i")
        if fft_length is None:
            lengths = [x.shape.dims[axis].value or array_ops.shape(x)[axis] for axis in axes]
            if real and inverse:
                lengths[-1] = 2 * (lengths[-1] - 1)
        else:
            lengths = fft_length if isinstance(fft_length, (list, tuple)) else array_ops.unstack(fft_length)
            if len(lengths) != len(axes):
                raise ValueError(f"There are {len(lengths)} lengths for {len(axes)} axes.")
        one = gen.ifft if inverse else gen.fft
        if real and not inverse:
            x = _along(x, axes[-1], lambda v: rfft(v, [lengths[-1]]))
        for axis, n in list(zip(axes, lengths))[:-1] if real else zip(axes, lengths):
            x = _along(x, axis, lambda v, n=n: one(_fitted(v, n)))
        if real and inverse:
            x = _along(x, axes[-1], lambda v: irfft(v, [lengths[-1]]))
        part = _PARTS[norm]
        if part == 0:
            return array_ops.identity(x, name=name)
        count = math_ops.cast(math_ops.reduce_prod(ops.convert_to_tensor(lengths, dtypes.int32)), x.dtype.real_dtype)
        return math_ops.multiply(x, math_ops.cast(count ** (part if inverse else -part), x.dtype), name=name)


def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform along any axes.

    input_tensor: complex, of known rank. fft_length: how many elements are taken along each of the axes, zeros where
    there are fewer. axes: all, or as many last ones as there are lengths. norm: "backward" (the inverse divides by the
    number of elements), "forward" or "ortho" (both divide by its root). ValueError: wrong axes, lengths or norm.
    """
    return _along_all(input_tensor, fft_length, axes, norm, name, "fftnd")


def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse of fftnd, with its arguments."""
    return _along_all(input_tensor, fft_length, axes, norm, name, "ifftnd")


def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """fftnd of real numbers; of the last of the axes the half that says it all."""
    return _along_all(input_tensor, fft_length, axes, norm, name, "rfftnd")


def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse of rfftnd; the last of the axes gets 2 * (n - 1) elements unless fft_length says otherwise."""
    return _along_all(input_tensor, fft_length, axes, norm, name, "irfftnd")


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
