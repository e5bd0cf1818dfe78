"""tensorflow.compiler.tf2xla.python.xla: the operations of XLA's that other ones can express."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import clip_ops
from penstock._src.core_ops import math_ops


def _start(start_indices, shape, slice_shape):
    """Where a slice begins that is moved so that it lies within the whole."""
    start = math_ops.cast(ops.convert_to_tensor(start_indices), shape.dtype)
    return clip_ops.clip_by_value(start, array_ops.zeros_like(shape), shape - slice_shape)


def dynamic_update_slice(input, update, start_indices, name=None):
    """`input` with `update` in it from `start_indices` on, a vector of the rank's length; an update that would not fit
    there is moved until it does."""
    with ops.name_scope(name, "XlaDynamicUpdateSlice", [input, update, start_indices]):
        input, update = ops.convert_to_tensor(input), ops.convert_to_tensor(update)
        size = array_ops.shape(update)
        start = _start(start_indices, array_ops.shape(input), size)
        return gen.tensor_strided_slice_update(input, start, start + size, array_ops.ones_like(size), update)


def dynamic_slice(input, start_indices, size_indices, name=None):
    """The part of `input` of shape `size_indices` from `start_indices` on, moved until it lies within the whole."""
    with ops.name_scope(name, "XlaDynamicSlice", [input, start_indices, size_indices]):
        input = ops.convert_to_tensor(input)
        size = math_ops.cast(ops.convert_to_tensor(size_indices), "int32")
        return array_ops.slice(input, _start(start_indices, array_ops.shape(input), size), size)
