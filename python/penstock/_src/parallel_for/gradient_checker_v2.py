"""Version 2's tf.test.compute_gradient: of a function, called eagerly or built into a graph for the default session."""
import numpy as np

from penstock._src.gradient import backprop
from penstock._src.graph import context
from penstock._src.graph import dtypes, indexed_slices, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.parallel_for import gradient_checker
from penstock._src.gradient import gradients_impl

__all__ = ["compute_gradient", "max_error"]


def compute_gradient(f, x, delta=None):
    """((the Jacobian of f by each of the list x from its gradients), (the same from differences))."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
                         f"{type(x)}")
    values = [_value(value) for value in x]
    delta = 1.0 / 1024 if delta is None else delta
    y = _runner(f, values)(*values)
    for what, value in [("y", y)] + [(f"argument {i}", value) for i, value in enumerate(values)]:
        dtype = dtypes.as_dtype(value.dtype)
        assert dtype in gradient_checker._TYPES, f"Cannot compute gradient for unsupported type {dtype.name} of {what}"
    return (tuple([_theoretical(f, values, i, y) for i in range(len(values))]),
            tuple([_numeric(f, values, i, y, delta) for i in range(len(values))]))


def _value(x):
    """The NumPy array of whatever converts to a tensor."""
    if isinstance(x, np.ndarray):
        return x
    return _array(x if isinstance(x, ops.Tensor) else ops.convert_to_tensor(x))


def _array(result):
    """The value of a tensor, of a session's answer or of slices, as one array that is contiguous."""
    if isinstance(result, indexed_slices.IndexedSlices):
        result = ops.convert_to_tensor(result)
    if isinstance(result, indexed_slices.IndexedSlicesValue):
        dense = np.zeros(result.dense_shape, result.values.dtype)
        np.add.at(dense, result.indices, result.values)
        return dense
    if isinstance(result, ops.Tensor):
        result = result.numpy() if context.executing_eagerly() else ops.get_default_session().run(result)
    return np.asarray(result)


def _runner(f, examples):
    """f as a function of arrays that look like `examples`."""
    if context.executing_eagerly():
        return lambda *values: _array(f(*map(ops.convert_to_tensor, values)))
    inputs = [array_ops.placeholder(dtypes.as_dtype(value.dtype), value.shape) for value in examples]
    y = f(*inputs)
    session = ops.get_default_session()
    return lambda *values: _array(session.run(y, feed_dict=dict(zip(inputs, values))))


def _gradient_of(f, index):
    """The function of (dy, *xs) that is f's gradient by xs[index]."""
    def gradient(dy, *xs):
        x = xs[index]
        if context.executing_eagerly():
            with backprop.GradientTape() as tape:
                tape.watch(x)
                y = f(*xs)
            dx = tape.gradient(y, x, output_gradients=dy)
        else:
            dx = gradients_impl.gradients(f(*xs), x, dy)[0]
        return array_ops.zeros_like(x) if dx is None else dx
    return gradient


def _reals(array):
    """The elements one after another, complex numbers as two."""
    dtype = dtypes.as_dtype(array.dtype)
    return gradient_checker._as_reals(array, dtype)


def _theoretical(f, values, index, y):
    """The Jacobian from gradients: a row for each element of y, one run each."""
    dy = np.zeros(y.shape, y.dtype)
    row_of, x_reals = _reals(dy), _reals(values[index])
    run = _runner(_gradient_of(f, index), [dy, *values])
    jacobian = np.zeros((row_of.size, x_reals.size), x_reals.dtype)
    for row in range(row_of.size):
        unit = np.zeros(row_of.size, row_of.dtype)
        unit[row] = 1
        jacobian[row] = _reals(run(unit.view(y.dtype).reshape(y.shape), *values))
    if not row_of.size:  # there is nothing to compare but the shape
        dx = run(dy, *values)
        if dx.shape != values[index].shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {values[index].shape}, got {dx.shape}")
        if np.any(dx):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _numeric(f, values, index, y, delta):
    """The Jacobian from central differences, of float32 results where y is bfloat16."""
    function = f
    if dtypes.as_dtype(y.dtype) == dtypes.bfloat16:
        y = y.astype(np.float32)

        def function(*xs):
            return math_ops.cast(f(*xs), dtypes.float32)

    x, kind = _reals(values[index]), values[index].dtype
    run = _runner(function, values)
    scale = np.asarray(2 * delta, _reals(y).dtype)[()]
    jacobian = np.zeros((_reals(y).size, x.size), x.dtype)
    for column in range(x.size):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * delta
            moved = moved.view(kind).reshape(values[index].shape)
            ends.append(run(*values[:index], moved, *values[index + 1:]))
        jacobian[:, column] = _reals((ends[0] - ends[1]) / scale)
    return jacobian


def max_error(grad1, grad2):
    """The greatest difference between two lists of Jacobians."""
    error = 0
    for a, b in zip(grad1, grad2):
        if a.size or b.size:
            error = np.maximum(error, np.fabs(a - b).max())
    return error
