"""Gradients against differences: tf.test.compute_gradient."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, indexed_slices, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.gradient import gradients_impl

__all__ = ["compute_gradient", "compute_gradient_error"]

_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _count(shape):
    return int(shape) if isinstance(shape, (int, np.integer)) else int(np.prod(shape, dtype=np.int64))


def _reals(dtype):
    """How many real numbers an element is made of."""
    return 2 if dtype.is_complex else 1


def _as_reals(array, dtype):
    return np.ascontiguousarray(array).ravel().view(dtype.real_dtype.as_numpy_dtype)


def _theoretical(x, x_shape, x_data, dy, y_shape, dx, feeds):
    """The Jacobian by the graph's gradients, one element of y at a time."""
    session = ops.get_default_session()
    columns = _count(y_shape) * _reals(dy.dtype)
    jacobian = np.zeros((_count(x_shape) * _reals(x.dtype), columns), dtype=x.dtype.real_dtype.as_numpy_dtype)
    dy_data = np.zeros(y_shape, dtype=dy.dtype.as_numpy_dtype)
    dy_flat = dy_data.reshape(-1).view(dy.dtype.real_dtype.as_numpy_dtype)
    for column in range(columns):
        dy_flat[column] = 1
        feed = {**feeds, x: x_data, dy: dy_data}
        if isinstance(dx, indexed_slices.IndexedSlices):
            width = jacobian.shape[0] // x_shape[0]
            for i, row in zip(*session.run([dx.indices, dx.values], feed_dict=feed)):
                jacobian[i * width:(i + 1) * width, column] += _as_reals(row, x.dtype)
        else:
            assert isinstance(dx, ops.Tensor), f"dx = {dx}"
            jacobian[:, column] = _as_reals(session.run(dx, feed_dict=feed), x.dtype)
        dy_flat[column] = 0
    if not columns:  # there is nothing to compare but the shape
        gradient = session.run(dx, feed_dict={**feeds, x: x_data, dy: dy_data})
        if gradient.shape != x_data.shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {x_data.shape}, got {gradient.shape}")
        if np.any(gradient):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _numeric(x, x_shape, x_data, y, y_shape, delta, feeds):
    """The Jacobian by central differences."""
    if x.dtype == dtypes.bfloat16:
        x = math_ops.cast(x, dtypes.float32)
        x_data = x_data.astype(np.float32)
    if y.dtype == dtypes.bfloat16:
        y = math_ops.cast(y, dtypes.float32)
    session = ops.get_default_session()
    y_dtype = y.dtype.real_dtype.as_numpy_dtype
    rows = _count(x_shape) * _reals(x.dtype)
    jacobian = np.zeros((rows, _count(y_shape) * _reals(y.dtype)), dtype=x.dtype.real_dtype.as_numpy_dtype)
    scale = np.asarray(2 * delta, dtype=y_dtype)[()]
    for row in range(rows):
        ends = []
        for sign in (1, -1):
            moved = np.array(x_data, dtype=x.dtype.as_numpy_dtype)
            moved.reshape(-1).view(x.dtype.real_dtype.as_numpy_dtype)[row] += sign * delta
            ends.append(session.run(y, feed_dict={**feeds, x: moved}))
        jacobian[row, :] = _as_reals((ends[0] - ends[1]) / scale, y.dtype)
    return jacobian


def _dx_and_dy(x, y, y_shape):
    with x.graph.as_default():
        source = constant_op.constant(1.0, shape=y_shape, dtype=y.dtype)
        dy = array_ops.identity(source)
    return gradients_impl.gradients(y, x, dy)[0], source


def _jacobians(x, x_shape, dx, y, y_shape, dy, x_init_value, delta, feeds):
    for what, tensor in (("x", x), ("y", y)):
        dtype = dtypes.as_dtype(tensor.dtype)
        assert dtype.base_dtype in _TYPES, f"Don't support type {dtype.name} for {what}"
    if x_init_value is None:
        x_data = np.random.random_sample(x_shape).astype(x.dtype.as_numpy_dtype)
        if x.dtype.is_complex:
            x_data.imag = np.random.random_sample(x_shape)
    else:
        assert list(x_shape) == list(x_init_value.shape), (
            f"x_shape = {x_shape}, init_data shape = {list(x_init_value.shape)}")
        x_data = np.array(x_init_value, order="C")
    theoretical = _theoretical(x, x_shape, x_data, dy, y_shape, dx, feeds)
    return theoretical, _numeric(x, x_shape, x_data, y, y_shape, delta, feeds)


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=0.001, init_targets=None, extra_feed_dict=None):
    """(the Jacobian of y by x from its gradients, the one from differences); a list of pairs if x is a list.

    Runs in the default session, from `x_init_value` or random values.
    """
    several = isinstance(x, list)
    xs, shapes = (x, x_shape) if several else ([x], [x_shape])
    values = (x_init_value or [None] * len(xs)) if several else [x_init_value]
    if init_targets is not None:
        assert isinstance(init_targets, (list, tuple))
    pairs = [_dx_and_dy(xi, y, y_shape) for xi in xs]
    for target in init_targets or ():
        target.run()
    feeds = dict(extra_feed_dict or {})
    results = [_jacobians(xi, shape, dx, y, y_shape, dy, value, delta, feeds)
               for xi, shape, (dx, dy), value in zip(xs, shapes, pairs, values)]
    return results if several else results[0]


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=0.001, init_targets=None,
                           extra_feed_dict=None):
    """The greatest difference between the two Jacobians of `compute_gradient`."""
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0
    for theoretical, numeric in pairs if isinstance(pairs, list) else [pairs]:
        if theoretical.size or numeric.size:
            error = np.maximum(error, np.fabs(theoretical - numeric).max())
    return error
