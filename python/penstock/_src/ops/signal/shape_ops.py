"""Signals cut into frames."""
from penstock._src.graph import gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.signal import util_ops

__all__ = ["frame"]


def _known_shape(signal, frame_length, frame_step, pad_end, axis):
    frame_length = tensor_util.constant_value(frame_length)
    frame_step = tensor_util.constant_value(frame_step)
    axis = tensor_util.constant_value(axis)
    if signal.shape.ndims is None:
        return None
    if axis is None:
        return [None] * (signal.shape.ndims + 1)
    known = signal.shape.as_list()
    length, count = known[axis], None
    if length is not None and frame_step is not None:
        if pad_end:
            count = max(0, -(-length // frame_step))
        elif frame_length is not None:
            count = max(0, (length - frame_length + frame_step) // frame_step)
    return known[:axis] + [count, frame_length] + known[axis:][1:]


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Frames of `frame_length`, each `frame_step` after the one before; `axis` becomes two dimensions."""
    with ops.name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = ops.convert_to_tensor(signal, name="signal")
        frame_length = ops.convert_to_tensor(frame_length, name="frame_length")
        frame_step = ops.convert_to_tensor(frame_step, name="frame_step")
        axis = ops.convert_to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for scalar in (frame_length, frame_step, axis):
            scalar.shape.assert_has_rank(0)
        known = _known_shape(signal, frame_length, frame_step, pad_end, axis)
        rank = array_ops.rank(signal)
        axis = math_ops.range(rank)[axis]
        shape = array_ops.shape(signal)
        outer, length, inner = array_ops.split(shape, [axis, 1, rank - 1 - axis])
        length = array_ops.reshape(length, [])
        outer_rank, inner_rank = array_ops.size(outer), array_ops.size(inner)
        if pad_end:
            pad_value = ops.convert_to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            count = -(-length // frame_step)
            missing = gen.maximum(0, frame_length + frame_step * (count - 1) - length)
            paddings = array_ops.concat([array_ops.zeros([outer_rank, 2], dtype=missing.dtype), [[0, missing]],
                                         array_ops.zeros([inner_rank, 2], dtype=missing.dtype)], 0)
            signal = array_ops.pad(signal, paddings, constant_values=pad_value)
            shape = array_ops.shape(signal)
            length = shape[axis]
        else:
            count = gen.maximum(0, 1 + (length - frame_length) // frame_step)
        # Frames are made of pieces that divide both their length and their step, so that whole pieces can be gathered.
        piece = util_ops.gcd(frame_length, frame_step)
        pieces_a_frame = frame_length // piece
        pieces_a_step = frame_step // piece
        pieces = length // piece
        whole = array_ops.concat([outer, [pieces * piece], inner], 0)
        cut = array_ops.strided_slice(signal, array_ops.zeros_like(shape), whole)
        cut = array_ops.reshape(cut, array_ops.concat([outer, [pieces, piece], inner], 0))
        first = array_ops.reshape(math_ops.range(count) * pieces_a_step, [count, 1])
        within = array_ops.reshape(math_ops.range(pieces_a_frame), [1, pieces_a_frame])
        frames = array_ops.reshape(array_ops.gather(cut, first + within, axis=axis),
                                   array_ops.concat([outer, [count, frame_length], inner], 0))
        if known:
            frames.set_shape(known)
        return frames
