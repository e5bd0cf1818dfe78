"""Types of results, and what is known of shapes while a graph is built."""
import numbers

import numpy as np

from penstock._src.graph import dtypes, gen, indexed_slices, ops, tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as tf_cond
from penstock._src.ops.numpy import np_dtypes
from penstock._src.base import nest


def _to_tf_type(dtype):
    return dtypes.as_dtype(dtype)


def _to_numpy_type(dtype):
    return dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else np.dtype(dtype)


def isscalar(val):
    """Whether `val` is a number or a scalar tensor."""
    if not isinstance(val, ops.Tensor):
        return np.isscalar(val)
    rank = val.shape.rank
    return array_ops.rank(val) == 0 if rank is None else rank == 0


def finfo(dtype):
    """`numpy.finfo` of a NumPy or TensorFlow type."""
    return np.finfo(_to_numpy_type(dtype))


def _maybe_get_dtype(x):
    """What np.result_type shall see of `x`: its type, or a number or array itself."""
    if isinstance(x, numbers.Real):
        return x
    if isinstance(x, indexed_slices.IndexedSlices) or tensor_util.is_tf_type(x):
        return _to_numpy_type(x.dtype)
    if isinstance(x, dtypes.DType):
        return x.as_numpy_dtype
    if isinstance(x, (list, tuple)):
        raise ValueError(f"Cannot find dtype for type inference from argument `x` of a sequence type {type(x)}. For "
                         "sequences, please call this function on each element individually.")
    return x


def result_type(*arrays_and_dtypes):
    """The type that NumPy's rules give for arrays, tensors, numbers and types, or structures of them, together."""
    leaves = [_maybe_get_dtype(x) for x in nest.flatten(arrays_and_dtypes)]
    return np_dtypes._result_type(*leaves or [np.asarray([])])


def result_type_unary(a, dtype):
    """The type of a result made of `a` alone: `dtype` if given; strings are values here and no names of types."""
    if dtype:
        return result_type(dtype)
    if isinstance(a, str):
        return np.str_
    if isinstance(a, bytes):
        return np.bytes_
    return result_type(a)


def _result_type_binary(t1, t2):
    try:
        return np_dtypes._result_type(_maybe_get_dtype(t1), _maybe_get_dtype(t2))
    except ValueError:
        return result_type(t1, t2)


def promote_types(type1, type2):
    """The smallest NumPy type to which both types can be cast safely."""
    return np_dtypes.canonicalize_dtype(np.promote_types(_to_numpy_type(type1), _to_numpy_type(type2)))


def tf_broadcast(*args):
    """The tensors, broadcast to their common shape."""
    if len(args) <= 1:
        return args
    shape = array_ops.shape(args[0])
    for arg in args[1:]:
        shape = array_ops.broadcast_dynamic_shape(shape, array_ops.shape(arg))
    return [gen.broadcast_to(arg, shape) for arg in args]


def get_static_value(x):
    """The constant value of a tensor, or None; None for floats too, whose gradient a constant would cut off."""
    if isinstance(x, ops.Tensor) and (x.dtype.is_floating or x.dtype.is_complex):
        return None
    return tensor_util.constant_value(x)


def _maybe_static(x):
    value = get_static_value(x)
    return x if value is None else value


def cond(pred, true_fn, false_fn):
    """tf.cond that calls one of the functions directly where `pred` is known."""
    value = get_static_value(pred)
    if value is None:
        return tf_cond.cond(pred, true_fn, false_fn)
    return true_fn() if value else false_fn()


def tf_rank(t):
    """The rank: an int where it is known, else a tensor."""
    return array_ops.rank(t) if t.shape.rank is None else t.shape.rank


def known_rank(t, function):
    """The rank as an int. ValueError, naming the function, if it is not known."""
    if t.shape.rank is None:
        raise ValueError(f"`{function}` needs an argument of known rank; got {t}")
    return t.shape.rank


def dims(t, function):
    """The sizes of the dimensions of a tensor of known rank: ints where they are known, else scalar tensors."""
    known_rank(t, function)
    static = t.shape.as_list()
    if None not in static:
        return static
    dynamic = array_ops.unstack(array_ops.shape(t), num=len(static))
    return [size if static[i] is None else static[i] for i, size in enumerate(dynamic)]


def _canonicalize_axes(axes, rank):
    rank = _maybe_static(rank)
    return [axis + rank if axis < 0 else axis for axis in axes]


def _canonicalize_axis(axis, rank):
    return _canonicalize_axes([axis], rank)[0]


def logical_or(a, b):
    """`a or b` of bools, of which either may be a tensor."""
    if isinstance(a, ops.Tensor) and isinstance(b, ops.Tensor):
        return a | b
    first, second = (a, b) if not isinstance(a, ops.Tensor) else (b, a)
    return first if first else second
