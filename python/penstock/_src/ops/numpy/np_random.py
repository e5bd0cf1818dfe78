"""Random arrays, with NumPy's signatures and TensorFlow's generators."""
import numpy as np

from penstock._src.graph import random_seed
from penstock._src.core_ops import array_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.numpy import np_array_ops, np_dtypes, np_utils

DEFAULT_RANDN_DTYPE = np.float32


def _shape(size):
    if size is None:
        return ()
    return (size,) if np_utils.isscalar(size) else size


def seed(s):
    """Sets the global seed. ValueError unless `s` is an integer."""
    try:
        s = int(s)
    except TypeError:
        raise ValueError(f"Argument `s` got an invalid value {s}. Only integers are supported.") from None
    random_seed.set_random_seed(s)


def standard_normal(size=None):
    """Numbers of the standard normal distribution."""
    return random_ops.random_normal(_shape(size), dtype=np_utils.result_type(float))


def randn(*args):
    """Numbers of the standard normal distribution; the arguments are the sizes."""
    return standard_normal(size=args)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers evenly distributed from `low` to `high`, without it."""
    dtype = np_utils.result_type(float)
    low, high = np_array_ops.asarray(low, dtype), np_array_ops.asarray(high, dtype)
    if size is None:
        size = array_ops.broadcast_dynamic_shape(array_ops.shape(low), array_ops.shape(high))
    return low + (high - low) * random_ops.random_uniform(_shape(size), dtype=dtype)


def random(size=None):
    """Numbers evenly distributed from 0 to 1."""
    return uniform(0.0, 1.0, size)


def rand(*size):
    """Numbers evenly distributed from 0 to 1; the arguments are the sizes."""
    return uniform(0.0, 1.0, size)


def poisson(lam=1.0, size=None):
    """Integers of the Poisson distribution of mean `lam`."""
    return random_ops.random_poisson_v2(shape=_shape(size), lam=lam, dtype=np_dtypes.int_)


def randint(low, high=None, size=None, dtype=np.int64):
    """Integers from `low` to `high`, without it, or from 0 to `low`. ValueError for types other than int32, int64."""
    low, high = (0, int(low)) if high is None else (int(low), high)
    given, dtype = dtype, np_utils.result_type(dtype)
    if dtype not in (np.int32, np.int64):
        raise ValueError(f"Argument `dtype` got an invalid value {given}. Only those convertible to "
                         f"{(np.int32, np.int64)} are supported.")
    return random_ops.random_uniform(_shape(size), low, high, dtype=dtype)
