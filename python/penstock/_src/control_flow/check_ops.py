"""tf.debugging.assert_*: checks of values, made when the graph is built if the values are known then."""
import numpy as np

from penstock._src.graph import context
from penstock._src.graph import dtypes, errors, gen, ops, sparse_tensor, tensor_shape, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.control_flow.check_shapes import *  # noqa: F401,F403
from penstock._src.control_flow.check_shapes import label
from penstock._src.control_flow import cond as cond_lib

__all__ = [
    "assert_equal", "assert_equal_v2", "assert_greater", "assert_greater_equal", "assert_greater_equal_v2",
    "assert_greater_v2", "assert_integer", "assert_integer_v2", "assert_less", "assert_less_equal",
    "assert_less_equal_v2", "assert_less_v2", "assert_near", "assert_near_v2", "assert_negative", "assert_negative_v2",
    "assert_non_negative", "assert_non_negative_v2", "assert_non_positive", "assert_non_positive_v2",
    "assert_none_equal", "assert_none_equal_v2", "assert_positive", "assert_positive_v2", "assert_proper_iterable",
    "assert_same_float_dtype", "assert_type", "assert_type_v2", "ensure_shape", "is_non_decreasing",
    "is_numeric_tensor", "is_strictly_increasing", "assert_rank", "assert_rank_at_least", "assert_rank_at_least_v2",
    "assert_rank_in", "assert_rank_in_v2", "assert_rank_v2", "assert_scalar", "assert_scalar_v2", "assert_shapes",
    "assert_shapes_v2",
]

_NUMERIC_TYPES = frozenset([
    dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32,
    dtypes.int64, dtypes.uint8, dtypes.qint8,
    dtypes.qint32, dtypes.quint8, dtypes.complex64,
])


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _text(value):
    """What is known of a part of the message when the graph is built."""
    if isinstance(value, ops.Tensor):
        known = tensor_util.constant_value(value)
        return str(value if known is None else known)
    return str(value)


def _eager_data(sign, x, y, holds, summarize):
    """The parts of the message of a comparison that failed eagerly: where it failed first, and the first elements."""
    data = [f"Condition x {sign} y did not hold."]
    if not summarize:
        return data
    if x.shape == y.shape and x.ndim:
        where = np.argwhere(~holds)
        shown = min(summarize, len(where))
        data += [f"Indices of first {shown} different values:", where[:shown],
                 "Corresponding x values:", x[~holds][:shown], "Corresponding y values:", y[~holds][:shown]]
    for which, values in (("x", x.reshape(-1)), ("y", y.reshape(-1))):
        shown = min(summarize, values.size)
        data += [f"First {shown} elements of {which}:", values[:shown]]
    return data


def _eager_text(part, summarize):
    """A part of a message, tensors by their first elements."""
    if not isinstance(part, ops.Tensor):
        return str(part)
    value = part.numpy()
    if np.ndim(value) == 0:
        return str(value)
    flat = value.reshape(-1)
    return str([str(element) for element in flat[:summarize]] + ["..."] * (flat.size > summarize))


def _compare_eagerly(sign, holds, x, y, data, summarize, message):
    holds = holds.numpy()
    if holds.all():
        return
    # 3 elements as `Assert` shows; all of them for a negative number.
    summarize = 3 if summarize is None else summarize if summarize >= 0 else max(np.size(x), np.size(y))
    if data is None:
        data = _eager_data(sign, np.asarray(x.numpy()), np.asarray(y.numpy()), holds, summarize)
    if message is not None:
        data = [message] + list(data)
    raise errors.InvalidArgumentError(None, None, "\n".join(_eager_text(part, summarize) for part in data))


def _compare(sign, name, op_name, known_op, x, y, data, summarize, message, scope):
    with ops.name_scope(scope, name, [x, y, data]):
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y")
        if context.executing_eagerly():
            return _compare_eagerly(sign, getattr(gen, op_name)(x, y), x, y, data, summarize, message)
        if data is None:
            data = [f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        if message is not None:
            data = [message] + list(data)
        condition = math_ops.reduce_all(getattr(gen, op_name)(x, y))
        known_x, known_y = tensor_util.constant_value(x), tensor_util.constant_value(y)
        if known_x is not None and known_y is not None and not np.all(known_op(known_x, known_y)):
            raise errors.InvalidArgumentError(None, None, "\n".join(_text(part) for part in data))
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def _binary(name, sign, op_name, known_op):
    """The assertion `x sign y`, for version 1 and 2."""

    def check(x, y, data=None, summarize=None, message=None, name=None):
        return _compare(sign, default, op_name, known_op, x, y, data, summarize, message, name)

    def check_v2(x, y, message=None, summarize=None, name=None):
        return check(x=x, y=y, summarize=summarize, message=message, name=name)

    default = name
    doc = f"An operation that fails unless x {sign} y for all elements."
    return _named(check, name, doc), _named(check_v2, name + "_v2", doc)


assert_none_equal, _ = _binary("assert_none_equal", "!=", "not_equal", np.not_equal)
assert_less, assert_less_v2 = _binary("assert_less", "<", "less", np.less)
assert_less_equal, assert_less_equal_v2 = _binary("assert_less_equal", "<=", "less_equal", np.less_equal)
assert_greater, assert_greater_v2 = _binary("assert_greater", ">", "greater", np.greater)
assert_greater_equal, assert_greater_equal_v2 = _binary("assert_greater_equal", ">=", "greater_equal", np.greater_equal)


def assert_none_equal_v2(x, y, summarize=None, message=None, name=None):
    """An operation that fails unless x != y for all elements."""
    return assert_none_equal(x=x, y=y, summarize=summarize, message=message, name=name)


def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless x == y for all elements."""
    with ops.name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return None if context.executing_eagerly() else control_flow_ops.no_op()
    return _compare("==", "assert_equal", "equal", np.equal, x, y, data, summarize, message, name)


def assert_equal_v2(x, y, message=None, summarize=None, name=None):
    """An operation that fails unless x == y for all elements."""
    return assert_equal(x=x, y=y, summarize=summarize, message=message, name=name)


def _against_zero(name, sign, check, zero_first):
    def compare(x, data=None, summarize=None, message=None, name=None):
        with ops.name_scope(name, default, [x, data]):
            x = ops.convert_to_tensor(x, name="x")
            if data is None:
                data = [message or "", f"Condition x {sign} 0 did not hold element-wise:", f"x ({label(x)}) = ", x]
            zero = ops.convert_to_tensor(0, dtype=x.dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return check(*pair, data=data, summarize=summarize)

    def compare_v2(x, message=None, summarize=None, name=None):
        return compare(x=x, message=message, summarize=summarize, name=name)

    default = name
    doc = f"An operation that fails unless x {sign} 0 for all elements."
    return _named(compare, name, doc), _named(compare_v2, name + "_v2", doc)


assert_negative, assert_negative_v2 = _against_zero("assert_negative", "<", assert_less, False)
assert_positive, assert_positive_v2 = _against_zero("assert_positive", ">", assert_less, True)
assert_non_negative, assert_non_negative_v2 = _against_zero("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive, assert_non_positive_v2 = _against_zero("assert_non_positive", "<=", assert_less_equal, False)


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless |x - y| < atol + rtol * |y| for all elements."""
    with ops.name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype=x.dtype)
        default = 10 * np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = ops.convert_to_tensor(default if rtol is None else rtol, name="rtol", dtype=x.dtype)
        atol = ops.convert_to_tensor(default if atol is None else atol, name="atol", dtype=x.dtype)
        if data is None:
            data = [message or "", f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                    f"x ({label(x)}) = ", x, f"y ({label(y)}) = ", y]
        tolerance = atol + rtol * math_ops.abs(y)
        difference = math_ops.abs(x - y)
        return control_flow_ops.Assert(math_ops.reduce_all(gen.less(difference, tolerance)), data, summarize=summarize)


def assert_near_v2(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """An operation that fails unless |x - y| < atol + rtol * |y| for all elements."""
    return assert_near(x=x, y=y, rtol=rtol, atol=atol, summarize=summarize, message=message, name=name)


# Types


def assert_proper_iterable(values):
    """TypeError if `values` can be iterated over only by accident: a tensor, an array, a string."""
    if isinstance(values, (ops.Tensor, sparse_tensor.SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_integer(x, message=None, name=None):
    """TypeError unless the tensor's type is an integer one."""
    with ops.name_scope(name, "assert_integer", [x]):
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {label(x)} of dtype {x.dtype}')
        return control_flow_ops.no_op("statically_determined_was_integer")


def assert_integer_v2(x, message=None, name=None):
    """TypeError unless the tensor's type is an integer one."""
    assert_integer(x, message, name)


def assert_type(tensor, tf_type, message=None, name=None):
    """TypeError unless the tensor (dense, sparse or ragged) is of that type."""
    tf_type = dtypes.as_dtype(tf_type)
    with ops.name_scope(name, "assert_type", [tensor]):
        if isinstance(tensor, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)):
            tensor = sparse_tensor.convert_to_tensor_or_sparse_tensor(tensor).values
        elif hasattr(tensor, "flat_values"):
            tensor = tensor.flat_values
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(f"{message or ''}  {label(tensor)} must be of type {tf_type!r}; got {tensor.dtype!r}")
        return control_flow_ops.no_op("statically_determined_correct_type")


def assert_type_v2(tensor, tf_type, message=None, name=None):
    """TypeError unless the tensor is of that type."""
    assert_type(tensor, tf_type, message, name)


def assert_same_float_dtype(tensors=None, dtype=None):
    """The common floating-point type of the tensors and `dtype`; ValueError if they differ."""
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        shown = getattr(tensor, "name", str(tensor)) if not context.executing_eagerly() else str(tensor)
        if dtype and found != dtype:
            raise ValueError(f"{shown}, type={found}, must be of the same type ({dtype})"
                             f"{f' as {first}' if first else ''}.")
        if not dtype:
            dtype, first = found, shown
    if not dtype:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def is_numeric_tensor(tensor):
    """Whether it is a Tensor of numbers."""
    return isinstance(tensor, ops.Tensor) and tensor.dtype in _NUMERIC_TYPES


# Order


def _steps(x):
    """The differences between neighbours of the flat tensor; empty if it has less than two elements."""
    x = array_ops.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    short = gen.less(array_ops.size(x), 2)
    last = array_ops.shape(x) - 1
    return cond_lib.cond(
        short, lambda: ops.convert_to_tensor([], dtype=x.dtype),
        lambda: array_ops.strided_slice(x, [1], [1] + last) - array_ops.strided_slice(x, [0], last))


def is_non_decreasing(x, name=None):
    """Whether no element is less than the one before it."""
    with ops.name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(x)
        return math_ops.reduce_all(gen.less_equal(ops.convert_to_tensor(0, dtype=steps.dtype), steps))


def is_strictly_increasing(x, name=None):
    """Whether each element is greater than the one before it."""
    with ops.name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(x)
        return math_ops.reduce_all(gen.less(ops.convert_to_tensor(0, dtype=steps.dtype), steps))


def ensure_shape(x, shape, name=None):
    """The tensor with what is known of its shape refined; running fails if its value has another."""
    return gen.ensure_shape(x, tensor_shape.as_shape(shape), name=name)
