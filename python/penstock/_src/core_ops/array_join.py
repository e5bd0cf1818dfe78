"""Joining and splitting: stack, concat, split, pad, repeat; lists of tensors as tensors."""
import numbers

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops.array_shape import all_dimensions, expand_dims, identity, rank, reshape, shape
from penstock._src.base import nest

__all__ = ["concat", "get_positive_axis", "pad", "pad_v2", "parallel_stack", "repeat", "repeat_with_axis", "split",
           "stack", "unstack"]


def _beyond(axis, low, high):
    if tf2.enabled():
        return ValueError(f"Argument `axis` = {axis} not in range [{low}, {high})")
    return ValueError(f"axis = {axis} not in [{low}, {high})")


def stack(values, axis=0, name="stack"):
    """Joins tensors of one shape and type along a new dimension `axis`, from -rank - 1 to rank.

    values: a list of N tensors of shape [A, B, ...]; the result is [N, A, B, ...] for axis 0 and [A, N, B, ...] for 1.
    ValueError: the axis is beyond, or shapes that are known differ.
    """
    if axis == 0:
        try:
            return ops.convert_to_tensor(values, name=name)  # a constant if there is no tensor among the values
        except (TypeError, ValueError, NotImplementedError):
            pass
    ndims = ops.convert_to_tensor(values[0], name=name).get_shape().ndims
    if ndims is not None and not -ndims - 1 <= axis <= ndims:
        raise _beyond(axis, -ndims - 1, ndims + 1)
    return gen.pack(values, axis=axis, name=name)


def parallel_stack(values, name="parallel_stack"):
    """`stack` along dimension 0 that copies each value as soon as it is there; all shapes must be known."""
    with ops.name_scope(name):
        one = ops.convert_to_tensor(values[0]).get_shape()
        return gen.parallel_concat([expand_dims(value, 0) for value in values],
                                   shape=tensor_shape.TensorShape([len(values)]).concatenate(one))


def unstack(value, num=None, axis=0, name="unstack"):
    """The slices along `axis` as a list; each has one dimension less than `value`.

    num: how many there are. ValueError: it is neither given nor known when the graph is built, or the axis is beyond.
    """
    if num is None:
        value = ops.convert_to_tensor(value)
        known = value.get_shape()
        if known.ndims is not None:
            if not -known.ndims <= axis < known.ndims:
                raise _beyond(axis, -known.ndims, known.ndims)
            num = known.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {known}")
    return gen.unpack(value, num=num, axis=axis, name=name)


def concat(values, axis, name="concat"):
    """Joins tensors along a dimension they have; all other dimensions must be the same.

    values: a list of tensors of one type and rank. axis: a scalar integer in [-rank, rank).
    InvalidArgumentError, or ValueError while a graph is built: the other dimensions differ, or there is no such axis.
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with ops.name_scope(name):
            where = ops.convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            if isinstance(values[0], int) and where.get_shape().ndims:
                raise ValueError(f"Shape {where.get_shape()} must have rank 0 (before TensorFlow 1.0 the axis came "
                                 "first: it is tf.concat(values, axis) now)")
            where.get_shape().assert_has_rank(0)
            return identity(values[0], name=name)
    return gen.concat_v2(values=values, axis=axis, name=name)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Cuts along `axis`: a number gives that many equal parts, a vector the size of each. A list of tensors.

    num_or_size_splits: an integer that divides the dimension, or a vector of integers that add up to it, one of which
      may be -1 for the rest.
    num: how many parts there are, if that is not known of the vector.
    ValueError: `num` is neither given nor known, or a tensor without dimensions is given.
    """
    sizes = ops.convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, tensor_shape.Dimension)) \
            and not isinstance(num_or_size_splits, bool):
        if isinstance(value, int) and getattr(axis, "shape", ()) != ():
            raise TypeError("Input 'split_dim' of 'Split' Op has a value with dimensions (before TensorFlow 1.0 the "
                            "axis came first: it is tf.split(value, num_or_size_splits, axis) now)")
        return gen.split(axis=axis, value=value, num_split=int(num_or_size_splits), name=name)
    if sizes.get_shape().ndims == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
                         f"Argument provided: {num_or_size_splits}")
    if num is None:
        if sizes.get_shape().ndims:
            num = sizes.get_shape().as_list()[0]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return gen.split_v(value=value, size_splits=sizes, axis=axis, num_split=num, name=name)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """Grows each dimension by paddings[i] = (before, after).

    paddings: integers [rank, 2].
    mode: "CONSTANT" fills with `constant_values`, a scalar; "REFLECT" mirrors without the border, "SYMMETRIC" with it,
      and the mirrored part is no longer than the dimension. ValueError: another mode.
    """
    mode = mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        result = gen.mirror_pad(tensor, paddings, mode=mode, name=name)
    elif mode != "CONSTANT":
        raise ValueError(f"Unknown padding mode: {mode}")
    elif isinstance(constant_values, numbers.Number) and constant_values == 0:
        result = gen.pad(tensor, paddings, name=name)
    else:
        result = gen.pad_v2(tensor, paddings, constant_values, name=name)
    _set_padded_shape(result)
    return result


def pad_v2(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    return pad(tensor, paddings, mode, name, constant_values)


pad_v2.__doc__ = pad.__doc__


def _set_padded_shape(result):
    """Uses paddings of which only some are known when the graph is built."""
    if result._is_eager:
        return
    before = result.op.inputs[0].shape
    if before.ndims is None or result.shape.is_fully_defined():
        return
    paddings = tensor_util.constant_value(result.op.inputs[1], partial=True)
    if paddings is not None:
        result.set_shape([None if dim is None or pair is None or any(x is None for x in pair) else dim + sum(pair)
                          for pair, dim in zip(paddings, before.as_list())])


# Lists with tensors in them become tensors.

def _pack_nested(values, dtype, name):
    """Packs a nested list in which there is a tensor; gives lists back as they are."""
    parts, found = [], False
    with ops.name_scope(name) as scope:
        for i, part in enumerate(values):
            if ops.is_dense_tensor_like(part):
                if dtype is not None and part.dtype.base_dtype != dtype:
                    raise TypeError(f"Cannot convert a list containing a tensor of dtype {part.dtype} to {dtype} "
                                    f"(Tensor is: {part!r})")
            elif isinstance(part, (list, tuple)):
                part = _pack_nested(part, dtype, str(i))
            found = found or ops.is_dense_tensor_like(part)
            parts.append(part)
        if not found:
            return parts
        tensors = [part if ops.is_dense_tensor_like(part) else constant_op.constant(part, dtype=dtype, name=str(i))
                   for i, part in enumerate(parts)]
        return gen.pack(tensors, name=scope)


def _first_tensor_dtype(values):
    for part in values:
        dtype = None
        if ops.is_dense_tensor_like(part):
            dtype = part.dtype.base_dtype
        elif isinstance(part, (list, tuple)):
            dtype = _first_tensor_dtype(part)
        if dtype is not None:
            return dtype
    return None


def convert_list(values, dtype=None, name=None):
    """Conversion function of nested lists with tensors in them, called by penstock._src.graph.constant_op."""
    found = _first_tensor_dtype(values)
    if dtype is not None and dtype != found:
        values = nest.map_structure(
            lambda x: gen.cast(x, dtype) if ops.is_dense_tensor_like(x) and x.dtype.base_dtype != dtype else x, values)
    return _pack_nested(values, found if dtype is None else dtype, name or "packed")


# repeat


def repeat(input, repeats, axis=None, name=None):
    """Repeats each slice along `axis` as often as `repeats` says; without an axis the elements of the flat tensor."""
    if axis is None:
        input = reshape(input, [-1])
        axis = 0
    return repeat_with_axis(input, repeats, axis, name)


def repeat_with_axis(data, repeats, axis, name=None):
    """`repeat` with an axis; `repeats` is a number, or a vector with one for each slice."""
    from penstock._src.core_ops.array_create import sequence_mask  # built on this module
    from penstock._src.core_ops.array_slice import boolean_mask
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with ops.name_scope(name, "Repeat", [data, repeats]):
        data = _at_least_vector(ops.convert_to_tensor(data, name="data"))
        repeats = ops.convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not repeats.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={repeats.dtype}")
        repeats = gen.cast(repeats, dtypes.int32)
        repeats.shape.with_rank_at_most(1)
        data_shape = shape(data)
        axis = get_positive_axis(axis, data.shape.ndims)
        exact = tf2.enabled()  # graphs of version 1 leave a size to be found, which fails where others are 0
        if exact and repeats.shape.ndims == 1 and repeats.shape.num_elements() == 1:  # every slice as often
            repeats = reshape(repeats, [])
        if repeats.shape.ndims == 1:
            data.shape.dims[axis].assert_is_compatible_with(repeats.shape[0])
        if repeats.shape.ndims == 0:
            size = data_shape[axis] * repeats if exact else -1
            joined = concat([data_shape[:axis], [size], data_shape[axis + 1:]], axis=0)
            return reshape(_tile_along(expand_dims(data, axis + 1), axis + 1, repeats), joined)
        if exact and repeats.shape.ndims is None:  # it may be one number for all slices
            repeats = gen.broadcast_to(repeats, data_shape[axis:axis + 1])
            repeats.set_shape([None])
        count, size = gen.sum(repeats, [0]) if exact else -1, 0 if repeats.shape[0] == 0 else None
        if repeats.shape.ndims != axis + 1:
            rows = data_shape[:axis + 1] if exact else concat([data_shape[:axis + 1 - rank(repeats)], shape(repeats)],
                                                              axis=0)
            repeats = gen.broadcast_to(repeats, rows)
            repeats.set_shape([None] * (axis + 1))
        most = gen.maximum(0, gen.max(repeats, all_dimensions(repeats)))
        mask = sequence_mask(repeats, most)
        result = boolean_mask(_tile_along(expand_dims(data, axis + 1), axis + 1, most), mask)
        if axis != 0:
            result = reshape(result, concat([data_shape[:axis], [count], data_shape[axis + 1:]], axis=0))
        if data.shape.ndims is not None:
            result.set_shape(data.shape[:axis].concatenate([size]).concatenate(data.shape[axis + 1:]))
        return result


def get_positive_axis(axis, ndims, axis_name="axis", ndims_name="ndims"):
    """The axis counted from the front; the names are for errors.

    TypeError unless it is an int; ValueError: it is out of range, or counts from the end of an unknown rank.
    """
    if not isinstance(axis, int):
        raise TypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError(f"{axis_name}={axis} may only be negative if {ndims_name} is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"{axis_name}={axis} out of bounds: expected {-ndims}<={axis_name}<{ndims}")
    return axis % ndims


def _at_least_vector(data):
    if data.shape.ndims is None:
        return reshape(data, concat([[1], shape(data)], axis=0)[-rank(data):])
    return stack([data]) if data.shape.ndims == 0 else data


def _tile_along(data, axis, multiple):
    if data.shape.ndims is not None:
        multiples = [1] * data.shape.ndims
        multiples[axis] = multiple
    else:
        ones = gen.fill(reshape(rank(data), [-1]), constant_op.constant(1, dtypes.int32))
        multiples = concat([ones[:axis], [multiple], ones[axis + 1:]], axis=0)
    return gen.tile(data, multiples)
