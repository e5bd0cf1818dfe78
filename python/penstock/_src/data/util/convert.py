"""Arguments of datasets as tensors."""
from penstock._src.graph import constant_op, dtypes, ops, tensor_shape
from penstock._src.base import tf2


def optional_param_to_tensor(argument_name, argument_value, argument_default=0, argument_dtype=dtypes.int64):
    """An argument, or its default if it is None, as a tensor."""
    if argument_value is None:
        return constant_op.constant(argument_default, dtype=argument_dtype, name=argument_name)
    return ops.convert_to_tensor(argument_value, dtype=argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like):
    """A shape as a vector of int64, with -1 for unknown sizes. TypeError, ValueError: a tensor of another kind."""
    try:
        sizes = tensor_shape.as_shape(shape_like).as_list()
        return ops.convert_to_tensor([-1 if size is None else size for size in sizes], dtype=dtypes.int64)
    except (TypeError, ValueError):
        made = ops.internal_convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
    values = "`tf.int64`" if tf2.enabled() else "tf.int64"
    wanted = f"The given shape {shape_like} must be a 1-D tensor of {values} values"
    if made.shape.rank not in (None, 1):
        raise ValueError(f"{wanted}, but the shape was {made.shape}.")
    if made.dtype != dtypes.int64:
        raise TypeError(f"{wanted}, but the element type was {made.dtype.name}.")
    return made
