"""Tensors from nothing but a shape: zeros, ones, fill, placeholders, one_hot, masks, grids."""
import functools
import numbers
import operator

import numpy as np

from penstock._src.graph import constant_op, defaults, dtypes, gen, ops, sparse_tensor, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops.array_join import stack
from penstock._src.core_ops.array_shape import all_dimensions, expand_dims, reshape, shape_internal, size

__all__ = [
    "fill", "meshgrid", "one_hot", "ones", "ones_like", "ones_like_v2", "placeholder", "placeholder_with_default",
    "sequence_mask", "sparse_placeholder", "zeros", "zeros_like", "zeros_like_v2",
]

_LARGEST_CONSTANT = 1000  # more elements than this are not written into the graph but filled in when it runs


def fill(dims, value, name=None, layout=None):
    """A tensor of shape `dims` that holds `value` everywhere, and has its type.

    dims: a vector of int32 or int64. value: a scalar.
    """
    _refuse_layout(layout)
    return tensor_util.maybe_set_static_shape(gen.fill(dims, value, name=name), dims)


def _count(shape):
    """How many elements a shape has: a number, or a tensor, built here as 1.15 does, if there are tensors in it."""
    if isinstance(shape, (list, tuple)) and any(isinstance(size, ops.Tensor) for size in shape):
        return functools.reduce(operator.mul, shape)
    return np.prod(shape)


def _is_plain(shape):
    """Whether it is a list of numbers, in eager execution: nothing is written into a graph."""
    return type(shape) in (list, tuple) and {int}.issuperset(map(type, shape)) and defaults.get_default_graph()._eager


def _filled(value, shape, dtype, name):
    if not isinstance(shape, ops.Tensor):
        try:
            # Version 1 takes the rank of a constant from a sequence: a bare number is filled in when it runs.
            if not isinstance(shape, numbers.Integral) and _count(shape) < _LARGEST_CONSTANT:
                return constant_op.constant(value, shape=shape, dtype=dtype, name=name)
        except (NotImplementedError, TypeError):  # a list with tensors in it, unknown dimensions
            pass
        except ValueError:
            return _fill_with(value, ops.convert_to_tensor(shape, dtype=dtypes.int32), dtype, name)
        try:
            shape = ops.convert_to_tensor(tensor_shape.TensorShape(shape))
        except (TypeError, ValueError):
            shape = ops.convert_to_tensor(shape, dtype=dtypes.int32)
    return _fill_with(value, shape, dtype, name)


def _fill_with(value, shape, dtype, name):
    if not shape.get_shape().ndims:
        shape = reshape(shape, [-1])
    return fill(shape, constant_op.constant(value, dtype=dtype), name=name)


def _number(value, dtype):
    """A number as constants of a type have it: those of quantized types are tuples."""
    return (value,) if dtype.is_quantized else value


def _refuse_layout(layout):
    if layout is not None:
        raise NotImplementedError("tensors are not laid out over a mesh of devices (DTensor)")


def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros (False, empty strings).

    shape: integers, a TensorShape, or a vector of int32 or int64.
    """
    _refuse_layout(layout)
    dtype = dtypes.as_dtype(dtype).base_dtype
    value = False if dtype == dtypes.bool else "" if dtype == dtypes.string else _number(0, dtype)
    if _is_plain(shape):
        return gen.fill(shape, constant_op.constant(value, dtype))
    with ops.name_scope(name, "zeros", [shape]) as name:
        return _filled(value, shape, dtype, name)


def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones (True).

    shape: integers, a TensorShape, or a vector of int32 or int64.
    """
    _refuse_layout(layout)
    dtype = dtypes.as_dtype(dtype).base_dtype
    value = True if dtype == dtypes.bool else _number(1, dtype)
    if _is_plain(shape):
        return gen.fill(shape, constant_op.constant(value, dtype))
    with ops.name_scope(name, "ones", [shape]) as name:
        return _filled(value, shape, dtype, name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros (False, empty strings) in the shape of a tensor, and of its type unless `dtype` says another."""
    with ops.name_scope(name, "zeros_like", [tensor]) as name:
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, dtype=dtype or tensor.dtype, name=name)
        if dtype is not None and dtype != tensor.dtype and dtype != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=dtype, name=name)
        return gen.zeros_like(tensor, name=name)


def zeros_like_v2(input, dtype=None, name=None, layout=None):
    _refuse_layout(layout)
    return zeros_like(input, dtype, name)


zeros_like_v2.__doc__ = zeros_like.__doc__


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones (True) in the shape of a tensor, and of its type unless `dtype` says another."""
    with ops.name_scope(name, "ones_like", [tensor]) as name:
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        like = shape_internal(tensor, optimize=optimize)
        result = ones(like, dtype=tensor.dtype if dtype is None else dtype, name=name)
        result.set_shape(tensor.get_shape())
        return result


def ones_like_v2(input, dtype=None, name=None, layout=None):
    _refuse_layout(layout)
    return ones_like(input, dtype, name)


ones_like_v2.__doc__ = ones_like.__doc__


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value is fed in each run: InvalidArgumentError in one that uses it without.

    shape: the shape of fed values; None, also as a dimension, permits any. RuntimeError: eager execution has no
        placeholders.
    """
    return gen.placeholder(dtype=dtype, shape=shape, name=name)


def placeholder_with_default(input, shape, name=None):
    """A tensor that has `input`'s value in the runs that do not feed it."""
    return gen.placeholder_with_default(input, shape, name=name)


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor whose parts are fed in each run; a shape that is fully known becomes a constant.

    shape: a tensor, or sizes of which those that are None or -1 are unknown.
    """

    def part(suffix):
        return None if name is None else f"{name}/{suffix}"

    count, known = None, None
    if shape is not None:
        count = shape.get_shape()[0] if isinstance(shape, ops.Tensor) else len(shape)
        if not isinstance(shape, ops.Tensor):
            sizes = [tensor_shape.dimension_value(size) for size in shape]
            known = tensor_shape.TensorShape([None if size == -1 else size for size in sizes])
        if known is not None and not known.is_fully_defined():
            shape = None
        else:
            shape = ops.convert_to_tensor(shape, dtype=dtypes.int64, name=part("shape"))
    if shape is None:
        shape = placeholder(dtypes.int64, shape=[count], name=part("shape"))
    values = placeholder(dtype, shape=[None], name=part("values"))
    indices = placeholder(dtypes.int64, shape=[None, count], name=part("indices"))
    result = sparse_tensor.SparseTensor(indices=indices, values=values, dense_shape=shape)
    if known is not None:
        result.set_shape(known)
    return result


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A new dimension of size `depth` that holds `on_value` at the place that the index says, `off_value` elsewhere.

    indices: integers; one that is negative or not below `depth` gives `off_value` alone.
    axis: where the dimension is inserted; after all others by default.
    dtype: float32 if neither it nor a value says another.
    TypeError: the values have different types, or not `dtype`.
    """
    with ops.name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as name:
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        hint = dtype if tf2.enabled() else None
        made = [None if value is None else ops.convert_to_tensor(value, preferred_dtype=hint)
                for value in (on_value, off_value)]
        given = {label: None if value is None else value.dtype.base_dtype
                 for label, value in zip(("on_value", "off_value"), made)}
        if tf2.enabled():  # version 1 makes the constants once more
            on_value, off_value = made
        for label, of_value in given.items():
            if dtype is not None and of_value is not None and of_value != dtype:
                raise TypeError(f"dtype {of_value} of {label} does not match dtype parameter {dtype}")
        if dtype is None:
            dtype = given["on_value"] or given["off_value"] or dtypes.float32
        if on_value is None:
            on_value = ops.convert_to_tensor(1, dtype, name="on_value")
        if off_value is None:
            off_value = ops.convert_to_tensor(0, dtype, name="off_value")
        on_dtype, off_dtype = given["on_value"] or dtype, given["off_value"] or dtype
        if on_dtype != off_dtype:
            raise TypeError(f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value")
        return gen.one_hot(indices, depth, on_value, off_value, axis=-1 if axis is None else axis, name=name)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """mask[..., j] = j < lengths[...], for j in [0, maxlen)."""
    with ops.name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = ops.convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = gen.max(lengths, all_dimensions(lengths))
            maxlen = gen.maximum(constant_op.constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = ops.convert_to_tensor(maxlen)
        if maxlen.get_shape().ndims:
            raise ValueError("maxlen must be scalar for sequence_mask")
        positions = gen.range(constant_op.constant(0, maxlen.dtype), maxlen, constant_op.constant(1, maxlen.dtype))
        mask = gen.less(positions, gen.cast(expand_dims(lengths, -1), maxlen.dtype))
        if dtype is None or mask.dtype.base_dtype == dtypes.as_dtype(dtype).base_dtype:
            return mask
        return gen.cast(mask, dtype)


def meshgrid(*args, **kwargs):
    """The coordinates of a grid over some vectors, one tensor for each; `indexing` is "xy" or "ij"."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with ops.name_scope(name, "meshgrid", args) as name:
        count = len(args)
        if not args:
            return []
        grids = [reshape(stack(x), [1] * i + [-1] + [1] * (count - 1 - i)) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = ops.convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0] = reshape(grids[0], [1, -1] + [1] * (count - 2))
            grids[1] = reshape(grids[1], [-1, 1] + [1] * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        stretch = ones(sizes, dtype)
        return [grid * stretch for grid in grids]
