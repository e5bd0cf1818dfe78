"""Functions of `tf.compat.v2` that had other parameters in 1.15: programs of version 1 get them from there.

Programs of that time look at signatures: TensorFlow Probability compares its own with TensorFlow's when it is
imported.
"""
from penstock import v1
from penstock._src.graph import dtypes

NAMES = ("fill", "ones", "ones_like", "shape", "size", "zeros", "zeros_like")


def fill(dims, value, name=None):
    """A tensor of shape `dims` that holds `value` everywhere."""
    return v1.fill(dims, value, name=name)


def ones(shape, dtype=dtypes.float32, name=None):
    """A tensor of ones (True)."""
    return v1.ones(shape, dtype, name)


def ones_like(input, dtype=None, name=None):
    """Ones in the shape of `input`, a tensor."""
    return v1.ones_like(input, dtype, name)


def shape(input, out_type=dtypes.int32, name=None):
    """The shape of a tensor, as a vector of `out_type`."""
    return v1.shape(input, name, out_type)


def size(input, out_type=dtypes.int32, name=None):
    """How many elements a tensor has, as a scalar of `out_type`."""
    return v1.size(input, name, out_type)


def zeros(shape, dtype=dtypes.float32, name=None):
    """A tensor of zeros (False, empty strings)."""
    return v1.zeros(shape, dtype, name)


def zeros_like(input, dtype=None, name=None):
    """Zeros in the shape of `input`, a tensor."""
    return v1.zeros_like(input, dtype, name)
