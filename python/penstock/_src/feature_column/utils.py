"""Checks of columns' arguments, and lengths of sequences."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.base import nest


def sequence_length_from_sparse_tensor(sp_tensor, num_elements=1):
    """How many steps each example has: its last column, in groups of `num_elements`."""
    with ops.name_scope(None, "sequence_length") as name_scope:
        row_ids = sp_tensor.indices[:, 0]
        column_ids = sp_tensor.indices[:, 1]
        column_ids += array_ops.ones_like(column_ids)
        length = gen.segment_max(column_ids, segment_ids=row_ids)
        length = math_ops.cast(gen.ceil(length / num_elements), dtypes.int64)
        # Examples at the end without any feature have no segment.
        missing = array_ops.shape(sp_tensor)[:1] - array_ops.shape(length)[:1]
        padding = array_ops.zeros(missing, dtype=length.dtype)
        return array_ops.concat([length, padding], axis=0, name=name_scope)


def assert_string_or_int(dtype, prefix):
    """ValueError unless the type is a string or an integer."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError("{} dtype must be string or integer. dtype: {}.".format(prefix, dtype))


def assert_key_is_string(key):
    """ValueError unless the key is a string."""
    if not isinstance(key, str):
        raise ValueError("key must be a string. Got: type {}. Given key: {}.".format(type(key), key))


def check_shape(shape, key):
    """The shape as a tuple of positive numbers."""
    shape = tuple(shape) if nest.is_sequence(shape) else (shape,)
    for dimension in shape:
        if not isinstance(dimension, int):
            raise TypeError("shape dimensions must be integer. shape: {}, key: {}".format(shape, key))
        if dimension < 1:
            raise ValueError("shape dimensions must be greater than 0. shape: {}, key: {}".format(shape, key))
    return shape


def check_default_value(shape, default_value, dtype, key):
    """The default as nested tuples of the given shape."""
    if default_value is None:
        return None
    if isinstance(default_value, int) or isinstance(default_value, float) and dtype.is_floating:
        return _filled(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):
        default_value = default_value.tolist()
    if nest.is_sequence(default_value):
        if not _has_shape(default_value, shape):
            raise ValueError("The shape of default_value must be equal to given shape. default_value: {}, shape: {}, "
                             "key: {}".format(default_value, shape, key))
        flat = nest.flatten(default_value)
        if all(isinstance(v, int) for v in flat) or any(isinstance(v, float) for v in flat) and dtype.is_floating:
            return _as_tuple(default_value)
    raise TypeError("default_value must be compatible with dtype. default_value: {}, dtype: {}, key: {}".format(
        default_value, dtype, key))


def _filled(shape, value):
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuple(value):
    return tuple(_as_tuple(v) for v in value) if nest.is_sequence(value) else value


def _has_shape(value, shape):
    if nest.is_sequence(value) != bool(shape):
        return False
    return not shape or len(value) == shape[0] and all(_has_shape(v, shape[1:]) for v in value)
