"""tf.keras.backend: the settings, and what programs ask of tensors."""
import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.layers.identifiers import hard_sigmoid as hard_sigmoid

name_scope = ops.name_scope
_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def _setting(name, allowed):
    def get():
        return _settings[name]

    def set_(value):
        if allowed is not None and value not in allowed:
            raise ValueError("Unknown %s: %s" % (name, value))
        _settings[name] = value

    get.__doc__ = "The `%s` in force." % name
    set_.__doc__ = "Sets `%s`, for the whole process. ValueError if it cannot be that." % name
    get.__name__ = get.__qualname__ = name
    set_.__name__ = set_.__qualname__ = "set_" + name
    return get, set_


floatx, set_floatx = _setting("floatx", {"float16", "float32", "float64"})
epsilon, set_epsilon = _setting("epsilon", None)
image_data_format, set_image_data_format = _setting("image_data_format", {"channels_last", "channels_first"})


def cast_to_floatx(x):
    """An array of the type `floatx()`."""
    return np.asarray(x, dtype=floatx())


def constant(value, dtype=None, shape=None, name=None):
    """tf.constant, by default of the type `floatx()`."""
    return constant_op.constant(value, dtype=floatx() if dtype is None else dtype, shape=shape, name=name)


def is_sparse(tensor):
    """Whether it is a SparseTensor."""
    return isinstance(tensor, sparse_tensor.SparseTensor)


def ndim(x):
    """How many dimensions a tensor has, or None."""
    return x.shape.ndims


def int_shape(x):
    """A tensor's shape as a tuple with None for unknown sizes; None if the rank is unknown."""
    return None if x.shape.ndims is None else tuple(x.shape.as_list())
