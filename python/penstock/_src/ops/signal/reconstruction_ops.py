"""Signals put together from overlapping frames."""
from penstock._src.graph import dtypes, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["overlap_and_add"]


def overlap_and_add(signal, frame_step, name=None):
    """[..., frames, length] laid over each other, each frame_step after the one before, and added."""
    with ops.name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = ops.convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = ops.convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        shape = array_ops.shape(signal)
        outer = shape[:-2]
        outer_rank = array_ops.size(outer)
        length, frames = shape[-1], shape[-2]
        output_length = length + frame_step * (frames - 1)

        def reshaped(value, inner, name=None):
            return array_ops.reshape(value, array_ops.concat([outer, inner], 0), name=name)

        known_step = tensor_util.constant_value(frame_step)
        if known_step is not None and signal.shape.dims is not None and known_step == signal.shape.dims[-1].value:
            return reshaped(signal, [output_length], name="fast_path")
        # Each frame is cut into segments of one step; the i-th segments of all frames are a signal i steps late.
        segments = -(-length // frame_step)
        paddings = array_ops.concat([array_ops.zeros([outer_rank, 2], dtypes.int32),
                                     [[0, segments], [0, segments * frame_step - length]]], 0)
        signal = reshaped(array_ops.pad(signal, paddings), [frames + segments, segments, frame_step])
        signal = array_ops.transpose(signal, array_ops.concat([math_ops.range(outer_rank), outer_rank + [1, 0, 2]], 0))
        signal = reshaped(signal, [(frames + segments) * segments, frame_step])
        signal = signal[..., :(frames + segments - 1) * segments, :]
        signal = reshaped(signal, [segments, frames + segments - 1, frame_step])
        signal = reshaped(math_ops.reduce_sum(signal, -3), [(frames + segments - 1) * frame_step])
        return signal[..., :output_length]
