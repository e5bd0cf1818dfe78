"""Python's operators on Tensor and SparseTensor. Importing this module installs them."""
import functools

import numpy as np

from penstock import _core
from penstock._src.graph import composite_tensor, defaults, dispatch, dtypes, errors, gen, ops, sparse_tensor
from penstock._src.base import tf2
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.base.mode import mode
from penstock._src.graph.tensor import is_dense_tensor_like
from penstock._src.core_ops import array_slice, math_arith, math_matmul
from penstock._src.base import hooks
from penstock._src.base import traceback_utils

_numpy_matmul, _numpy_promoted = hooks.Hook("numpy.matmul"), hooks.Hook("numpy.promote")
# The public functions that are Python's operators, for classes that borrow those of Tensor (Keras' symbolic values).
_PUBLIC = {
    "abs": "math.abs", "add": "__operators__.add", "and": "math.logical_and", "div": "math.truediv",
    "floordiv": "math.floordiv", "ge": "math.greater_equal", "getitem": "__operators__.getitem", "gt": "math.greater",
    "invert": "math.logical_not", "le": "math.less_equal", "lt": "math.less", "matmul": "linalg.matmul",
    "mod": "math.floormod", "mul": "math.multiply", "neg": "math.negative", "or": "math.logical_or", "pow": "math.pow",
    "sub": "math.subtract", "truediv": "math.truediv", "xor": "math.logical_xor",
}


def _add(x, y, name=None):
    return gen.add(x, y, name=name) if x.dtype == dtypes.string else gen.add_v2(x, y, name=name)


def _mul(x, y, name=None):
    if isinstance(y, sparse_tensor.SparseTensor):
        values = gen.sparse_dense_cwise_mul(y.indices, y.values, y.dense_shape, x, name=name)
        return sparse_tensor.SparseTensor(y.indices, values, y.dense_shape)
    bools = x._dtype is dtypes.bool or getattr(y, "_dtype", None) is dtypes.bool
    if bools and tf2.enabled():  # both are true, or are not 0
        return gen.cast(gen.mul(gen.cast(x, dtypes.int32), gen.cast(y, dtypes.int32), name=name), dtypes.bool)
    return gen.mul(x, y, name=name)


def _logical_or_bitwise(logical, bitwise):
    """Of bools the logical operation, of integers that of their bits."""

    def function(*inputs, name=None):
        of_bools = inputs[0].dtype == dtypes.bool
        return getattr(gen, logical if of_bools else bitwise)(*inputs, name=name)
    return function


def _xor(x, y, name=None):
    return math_arith.logical_xor(x, y, name=name) if x.dtype == dtypes.bool else gen.bitwise_xor(x, y, name=name)


def _matmul(x, y, name=None):
    if mode.type_promotion == "legacy":
        return _numpy_matmul(x, y)
    return math_matmul.matmul(x, y, name=name)


def _promoted(x, y):
    """The operands: both of the type by NumPy's rules where programs have enabled these."""
    if mode.type_promotion != "legacy" or x.dtype == dtypes.string or isinstance(y, (str, bytes)) \
            or isinstance(y, composite_tensor.CompositeTensor) or getattr(y, "dtype", None) == x.dtype:
        return x, y
    try:
        return _numpy_promoted(x, y)
    except (TypeError, ValueError):  # nothing that has a type
        return x, y


def _install(name, function, reflected=False):
    """Makes a function `__name__` of Tensor, or `__rname__`."""

    @functools.wraps(function)
    def operator(x, *other):
        try:
            if not isinstance(x, ops.Tensor):
                if reflected:
                    other, x = (x,), ops.convert_to_tensor(*other, dtype=x.dtype.base_dtype, name="x")
                return dispatch.of_borrowed(_PUBLIC[name], x, *other)
            return function(x, *other)
        except Exception as e:
            if dispatch.refused is not None and not reflected:
                result = dispatch.refused(dispatch.public_of(_PUBLIC[name]), (x, *other), {}, e)
                if result is not NotImplemented:
                    return result
            if tf2.enabled():
                raise traceback_utils.filtered(e)
            raise

    ops.Tensor._override_operator(f"__{'r' * reflected}{name}__", operator)


_PREFER = ("add", "div", "truediv", "matmul")  # keep bools that are not of the tensor's type


def _strictly(function, x, y):
    """Calls an operator's function. If the other operand cannot become a tensor of x's type, version 2 raises the
    error of this conversion."""
    try:
        return function(x, y)
    except errors.InvalidArgumentError:
        if x._is_eager and tf2.enabled() and not is_dense_tensor_like(y) and not hasattr(y, "row_splits") and \
                not isinstance(y, sparse_tensor.SparseTensor):
            try:
                ops.convert_to_tensor(y, dtype=x.dtype)
            except (TypeError, ValueError) as e:
                raise e from None
        raise


def _asked(y, operator, x, error):
    """Returns the result of the other operand's method after the tensor refused it; else raises the error."""
    if not hasattr(type(y), operator) or isinstance(y, (ops.Tensor, np.ndarray)) and not x._is_eager:
        raise error  # an array has no place for a tensor of a graph
    try:
        result = getattr(y, operator)(x)
    except (TypeError, ValueError):
        raise error from None
    if result is NotImplemented:
        raise error
    return result


def _binary(function, name):
    """`__name__` and `__rname__`: the other operand is converted to the tensor's type."""

    def compute(x, y):
        x, y = _promoted(x, y)
        eager = defaults.get_default_graph()._eager
        if eager and x._is_eager:  # names of scopes are of no use
            if type(y) in (int, float):
                y = ops.convert_to_tensor(y, preferred_dtype=x.dtype)
            if type(y) is type(x):
                return function(x, y)
        with ops.name_scope(None, name, [x, y]) as scope:
            if not eager and name not in _PREFER and tf2.enabled():
                try:
                    return function(x, y, name=scope)
                except (TypeError, ValueError) as e:
                    return _asked(y, f"__r{name}__", x, e)
            if type(y) is bool and x._is_eager and name not in _PREFER:
                y = ops.convert_to_tensor(y, dtype=x.dtype, name="y")
            elif not isinstance(y, (ops.Tensor, sparse_tensor.SparseTensor)) or \
                    isinstance(y, EagerTensor) and not tf2.enabled():
                try:
                    y = ops.convert_to_tensor(y, preferred_dtype=x.dtype.base_dtype, name="y")
                except (TypeError, ValueError) as e:
                    if tf2.enabled():
                        return _asked(y, f"__r{name}__", x, e)
                    if hasattr(type(y), f"__r{name}__"):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    forward = compute if name in _PREFER else lambda x, y: _strictly(compute, x, y)

    def reflected(y, x):
        y, x = _promoted(y, x)
        with ops.name_scope(None, name, [x, y]) as scope:
            x = ops.convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    _install(name, forward)
    _install(name, reflected, reflected=True)


def _sparse_binary(function, name):
    """`__name__` of SparseTensor with something dense."""

    def forward(x, y):
        with ops.name_scope(None, name, [x, y]) as scope:
            y = ops.convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
            values = function(x.indices, x.values, x.dense_shape, y, name=scope)
            return sparse_tensor.SparseTensor(x.indices, values, x.dense_shape)

    sparse_tensor.SparseTensor._override_operator(f"__{name}__", forward)


def _sparse_truediv(indices, values, shape, y, name=None):
    with ops.name_scope(name, "truediv", [indices, values, shape, y]) as name:
        values = ops.convert_to_tensor(values, name="sp_values")
        y = ops.convert_to_tensor(y, name="y")
        values, y = math_arith.as_quotient_operands(values, y)
        return gen.sparse_dense_cwise_div(indices, values, shape, y, name=name)


def _op(name):
    """The made function of that name, found when it is called."""
    return lambda *inputs, name=None, _function=name: getattr(gen, _function)(*inputs, name=name)


def _direct(name, op_name):
    def forward(x, *other):
        if other:
            x, *other = _promoted(x, *other)
            return _strictly(getattr(gen, op_name), x, *other)
        return getattr(gen, op_name)(x)

    _install(name, forward)


for _function, _name in (
        (_add, "add"), (_op("sub"), "sub"), (_mul, "mul"), (math_arith.div, "div"), (math_arith.truediv, "truediv"),
        (math_arith.floordiv, "floordiv"), (_op("floor_mod"), "mod"), (math_arith.pow, "pow"),
        (_logical_or_bitwise("logical_and", "bitwise_and"), "and"),
        (_logical_or_bitwise("logical_or", "bitwise_or"), "or"), (_xor, "xor"),
        (_matmul, "matmul")):
    _binary(_function, _name)
for _function, _name in ((_op("sparse_dense_cwise_div"), "div"), (_sparse_truediv, "truediv"),
                         (_op("sparse_dense_cwise_mul"), "mul")):
    _sparse_binary(_function, _name)
for _operator, _name in (("neg", "neg"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"),
                         ("ge", "greater_equal")):
    _direct(_operator, _name)
_install("invert", _logical_or_bitwise("logical_not", "invert"))
_install("abs", math_arith.abs)
_install("getitem", array_slice._slice_helper)


def _install_short_roads():
    """Eager values and Python numbers go to the runtime at once."""
    def add(operator, op, **options):
        setattr(EagerTensor, operator, _core.fast_op(op, getattr(ops.Tensor, operator), **options))

    for name, op in (("add", "AddV2"), ("sub", "Sub"), ("mul", "Mul"), ("mod", "FloorMod"), ("floordiv", "FloorDiv"),
                     ("pow", "Pow")):
        add(f"__{name}__", op)
        add(f"__r{name}__", op, reflected=True)
    add("__truediv__", "RealDiv", floating=True)
    add("__rtruediv__", "RealDiv", reflected=True, floating=True)
    for name, op in (("lt", "Less"), ("le", "LessEqual"), ("gt", "Greater"), ("ge", "GreaterEqual")):
        add(f"__{name}__", op)
    add("__matmul__", "MatMul", rank=2)
    add("__neg__", "Neg")


_install_short_roads()
