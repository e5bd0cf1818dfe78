"""Short-time Fourier transforms and their inverses."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.signal import dct_ops, fft_ops, reconstruction_ops, shape_ops, window_ops

__all__ = ["inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "mdct", "stft"]


def _scalar(value, name):
    value = ops.convert_to_tensor(value, name=name)
    value.shape.assert_has_rank(0)
    return value


def _power_of_two(value):
    """The least power of two that is not below `value`."""
    known = tensor_util.constant_value(value)
    if known is not None:
        return constant_op.constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), value.dtype)
    exponent = gen.ceil(gen.log(math_ops.cast(value, dtypes.float32)) / gen.log(2.0))
    return math_ops.cast(math_ops.pow(2.0, exponent), value.dtype)


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=window_ops.hann_window, pad_end=False,
         name=None):
    """The Fourier transforms of windowed frames."""
    with ops.name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = ops.convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _power_of_two(frame_length)
        else:
            fft_length = ops.convert_to_tensor(fft_length, name="fft_length")
        frames = shape_ops.frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=frames.dtype)
        return fft_ops.rfft(frames, [fft_length])


def inverse_stft_window_fn(frame_step, forward_window_fn=window_ops.hann_window, name=None):
    """The window with which inverse_stft undoes an stft with `forward_window_fn`."""

    def window_fn(frame_length, dtype):
        with ops.name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            step = _scalar(frame_step, "frame_step")
            length = _scalar(frame_length, "frame_length")
            window = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            sums = array_ops.pad(math_ops.square(window), [(0, overlaps * step - length)])
            sums = math_ops.reduce_sum(array_ops.reshape(sums, [overlaps, step]), 0, keepdims=True)
            sums = array_ops.reshape(gen.tile(sums, [overlaps, 1]), [overlaps * step])[:length]
            return array_ops.where(math_ops.equal(sums, 0.0), array_ops.zeros_like(window), window / sums)

    return window_fn


def _with_length(frames, frame_length):
    """Frames cut or filled up with zeros."""
    known = tensor_util.constant_value(frame_length)
    have = None if frames.shape.ndims is None else frames.shape.as_list()[-1]
    if known is None or have is None:
        frames = frames[..., :frame_length]
        missing = gen.maximum(0, frame_length - array_ops.shape(frames)[-1])
        outer = array_ops.zeros([array_ops.rank(frames) - 1, 2], dtype=frame_length.dtype)
        frames = array_ops.pad(frames, array_ops.concat([outer, [[0, missing]]], 0))
    elif have > known:
        frames = frames[..., :known]
    elif have < known:
        frames = array_ops.pad(frames, [[0, 0]] * (frames.shape.ndims - 1) + [[0, known - have]])
    if known is not None and frames.shape.ndims is not None:
        frames.set_shape([None] * (frames.shape.ndims - 1) + [known])
    return frames


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=window_ops.hann_window, name=None):
    """The signal of which these are the short-time Fourier transforms."""
    with ops.name_scope(name, "inverse_stft", [stfts]):
        stfts = ops.convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        fft_length = _power_of_two(frame_length) if fft_length is None else _scalar(fft_length, "fft_length")
        frames = _with_length(fft_ops.irfft(stfts, [fft_length]), frame_length)
        if window_fn is not None:
            frames *= window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return reconstruction_ops.overlap_and_add(frames, frame_step)


def mdct(signals, frame_length, window_fn=window_ops.vorbis_window, pad_end=False, norm=None, name=None):
    """The modified discrete cosine transforms of frames that overlap by half."""
    with ops.name_scope(name, "mdct", [signals, frame_length]):
        signals = ops.convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        known = tensor_util.constant_value(frame_length)
        if known is not None and known % 4:
            raise ValueError("The frame length must be a multiple of 4.")
        step = frame_length // 2 if known is None else ops.convert_to_tensor(known // 2, dtype=frame_length.dtype)
        frames = shape_ops.frame(signals, frame_length, step, pad_end=pad_end)
        frames *= 1.0 / np.sqrt(2) if window_fn is None else window_fn(frame_length, dtype=frames.dtype)
        a, b, c, d = array_ops.split(frames, 4, axis=-1)
        first = -array_ops.reverse(c, [-1]) - d
        second = a - array_ops.reverse(b, [-1])
        return dct_ops.dct(array_ops.concat((first, second), axis=-1), type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=window_ops.vorbis_window, norm=None, name=None):
    """The signal of which these are the modified discrete cosine transforms."""
    with ops.name_scope(name, "inverse_mdct", [mdcts]):
        mdcts = ops.convert_to_tensor(mdcts, name="mdcts")
        mdcts.shape.with_rank_at_least(2)
        half = math_ops.cast(mdcts.shape[-1], dtype=dtypes.int32)
        if norm is None:
            values = (0.5 / math_ops.cast(half, dtype=mdcts.dtype)) * dct_ops.dct(mdcts, type=4)
        elif norm == "ortho":
            values = dct_ops.dct(mdcts, type=4, norm="ortho")
        else:
            raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
        a, b = array_ops.split(values, 2, axis=-1)
        frames = array_ops.concat((b, -array_ops.reverse(b, [-1]), -array_ops.reverse(a, [-1]), -a), axis=-1)
        frames *= 1.0 / np.sqrt(2) if window_fn is None else window_fn(2 * half, dtype=mdcts.dtype)
        return reconstruction_ops.overlap_and_add(frames, half)
