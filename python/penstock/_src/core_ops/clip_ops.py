"""Clipping by value and by norm."""
from collections import abc

from penstock._src.graph import constant_op, dtypes, gen, indexed_slices, ops
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]


def _values(t, name="t"):
    return ops.convert_to_tensor(t.values if isinstance(t, indexed_slices.IndexedSlices) else t, name=name)


def _like(t, values):
    """`values` in place of those of `t`, if that is IndexedSlices."""
    if isinstance(t, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(values, t.indices, t.dense_shape)
    return values


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Brings each element into [clip_value_min, clip_value_max]; of IndexedSlices, each element of the values.

    The limits are of the tensor's type and broadcast to its shape. ValueError: they would make it larger.
    """
    with ops.name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t)
        low = gen.minimum(values, clip_value_max)
        values.shape.merge_with(low.shape)  # the limits may not broadcast the tensor
        clipped = gen.maximum(low, clip_value_min, name=name)
        values.shape.merge_with(clipped.shape)
        return _like(t, clipped)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scales down so that the root of the sum of squares over `axes` is at most `clip_norm`."""
    with ops.name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t)
        squares = math_ops.reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # The root of 0 has no gradient: it is taken of 1 there.
        safe = array_ops.where(positive, squares, array_ops.ones_like(squares))
        norm = array_ops.where(positive, gen.sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)  # nor may the norm
        return _like(t, array_ops.identity(scaled / gen.maximum(norm, clip_norm), name=name))


def _as_list(t_list):
    if not isinstance(t_list, abc.Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _all_values(t_list):
    return [None if t is None else _values(t, name=f"t_{i}") for i, t in enumerate(t_list)]


def global_norm(t_list, name=None):
    """The root of the sum of squares of all elements of a list of tensors; None is left out."""
    t_list = _as_list(t_list)
    with ops.name_scope(name, "global_norm", t_list) as name:
        halves = []
        for values in _all_values(t_list):
            if values is not None:
                with ops.colocate_with(values):
                    halves.append(gen.l2_loss(values))
        half = math_ops.reduce_sum(array_ops.stack(halves))
        return gen.sqrt(half * constant_op.constant(2.0, dtype=half.dtype), name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(tensors scaled down together so that their global norm is at most `clip_norm`, that norm)."""
    t_list = _as_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with ops.name_scope(name, "clip_by_global_norm", t_list + [clip_norm]) as name:
        scale = clip_norm * gen.minimum(1.0 / use_norm, constant_op.constant(1.0, dtype=use_norm.dtype) / clip_norm)
        nan = constant_op.constant(float("nan"), dtype=use_norm.dtype)
        scale = array_ops.where(gen.is_finite(use_norm), scale, nan)
        clipped = []
        for i, values in enumerate(_all_values(t_list)):
            if values is not None:
                with ops.colocate_with(values):
                    values = array_ops.identity(values * math_ops.cast(scale, values.dtype), name=f"{name}_{i}")
            clipped.append(values)
        return [_like(t, values) for t, values in zip(t_list, clipped)], use_norm


def clip_by_average_norm(t, clip_norm, name=None):
    """Scales down so that the norm over the number of elements is at most `clip_norm`."""
    with ops.name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = ops.convert_to_tensor(t, name="t")
        count = math_ops.cast(array_ops.size(t), dtypes.float32)
        inverse = gen.rsqrt(math_ops.reduce_sum(t * t, math_ops.range(array_ops.rank(t))))
        scaled = t * clip_norm
        limit = gen.minimum(inverse * count, constant_op.constant(1.0) / clip_norm)
        return array_ops.identity(scaled * limit, name=name)
