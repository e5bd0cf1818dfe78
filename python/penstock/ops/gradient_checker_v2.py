"""Version 2's tf.test.compute_gradient: of a function, here by a graph and the default session."""
import numpy as np

from penstock.framework import dtypes, ops
from penstock.ops import array_ops, gradient_checker, gradients_impl

__all__ = ["compute_gradient", "max_error"]


def compute_gradient(f, x, delta=None):
    """([the Jacobian of f by each of the list x from its gradients], [the same from differences])."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
                         f"{type(x)}")
    values = [np.asarray(value) for value in _values(x)]
    delta = 1.0 / 1024 if delta is None else delta
    inputs = [array_ops.placeholder(dtypes.as_dtype(value.dtype), value.shape) for value in values]
    y = f(*inputs)
    dy = array_ops.placeholder(y.dtype, y.shape)
    gradients = gradients_impl.gradients(y, inputs, dy)
    feeds = dict(zip(inputs, values))
    y_shape = ops.get_default_session().run(y, feed_dict=feeds).shape
    theoretical, numeric = [], []
    for tensor, value, gradient in zip(inputs, values, gradients):
        if gradient is None:
            gradient = array_ops.zeros_like(tensor)
        rest = {key: other for key, other in feeds.items() if key is not tensor}
        # Version 2 has a row for each element of y.
        theoretical.append(gradient_checker._theoretical(
            tensor, value.shape, value, dy, y_shape, gradient, rest).T)
        numeric.append(gradient_checker._numeric(tensor, value.shape, value, y, y_shape, delta, rest).T)
    return theoretical, numeric


def _values(x):
    """Arrays as they are, tensors by their values in the default session."""
    return [ops.get_default_session().run(value) if isinstance(value, ops.Tensor) else value for value in x]


def max_error(grad1, grad2):
    """The greatest difference between two lists of Jacobians."""
    error = 0
    for a, b in zip(grad1, grad2):
        if a.size or b.size:
            error = np.maximum(error, np.fabs(a - b).max())
    return error
