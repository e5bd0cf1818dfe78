"""Numbers at even distances, and points that fill a cube evenly."""
import numpy as np

from penstock._src.graph import common_shapes, constant_op, dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["linspace", "sobol_sample"]


def _is_scalar(value):
    return value.shape.ndims == 0 if tensor_util.is_tensor(value) else np.ndim(value) == 0


def _is_floating(value):
    return value.dtype.is_floating if tensor_util.is_tensor(value) else np.asarray(value).dtype.kind == "f"


def linspace(start, stop, num, name=None, axis=0):
    """`num` numbers from `start` to `stop` at even distances; tensors of starts and stops, which broadcast, give them
    along a new dimension `axis`."""
    nothing = isinstance(num, int) and num == 0
    if not nothing and _is_scalar(start) and _is_scalar(stop) and _is_floating(start):
        return gen.lin_space(start, stop, num, name=name)
    with ops.name_scope(name, "linspace", [start, stop]):
        start = ops.convert_to_tensor(start, name="start")
        stop = ops.convert_to_tensor(stop, name="stop", dtype=start.dtype)
        count = math_ops.cast(num, dtypes.int32)
        shapes = start.shape, stop.shape
        together = gen.broadcast_args(array_ops.shape(start), array_ops.shape(stop))
        start, stop = (array_ops.expand_dims(gen.broadcast_to(x, together), axis) for x in (start, stop))
        distance = (stop - start) / math_ops.cast(gen.maximum(count - 1, 1), start.dtype)
        inner = math_ops.range(1, gen.maximum(count - 1, 1), dtype=dtypes.int32)
        rank = array_ops.rank(start)
        place = gen.floor_mod(constant_op.constant(axis), rank)
        along = array_ops.one_hot(place, rank, on_value=array_ops.size(inner), off_value=1)
        start, stop, inner = (math_ops.cast(x, distance.dtype) for x in (start, stop, inner))
        numbers = array_ops.concat([start, start + distance * array_ops.reshape(inner, along), stop], axis)
        sizes = array_ops.one_hot(place, rank, on_value=count, off_value=-1)
        numbers = array_ops.slice(numbers, array_ops.zeros_like(sizes), sizes)
        known = common_shapes.broadcast_shape(*shapes)
        if known.ndims is not None:
            at = axis % (known.ndims + 1)
            numbers.set_shape(known[:at].concatenate([tensor_util.constant_value(count)]).concatenate(known[at:]))
        return numbers


def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None):
    """Points of Sobol's sequence, which fill the unit cube evenly: [num_results, dim], float32 or float64.

    The first `skip` points are left out. InvalidArgumentError: more than 2056 dimensions, or no points.
    """
    with ops.name_scope(name, "sobol", [dim, num_results, skip]):
        return gen.sobol_sample(dim, num_results, skip, dtype=dtype)
