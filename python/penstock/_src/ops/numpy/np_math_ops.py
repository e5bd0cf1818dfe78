"""Mathematical functions with NumPy's rules of types; the methods and properties that Tensor gets."""
import numbers

import numpy as np

from penstock._src.graph import constant_op, dtypes, errors, gen, ops
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.core_ops import array_ops, clip_ops, einsum_v2, math_ops, math_ranges, sort_ops
from penstock._src.control_flow import control_flow_ops, while_loop
from penstock._src.ops.numpy import np_array_ops, np_arrays, np_dtypes, np_utils
from penstock._src.ops.numpy.np_array_ops import asarray
from penstock._src.graph import dispatchers as dispatch

pi = np.pi
e = np.e
inf = np.inf


def _function(function, name, doc):
    """A function of the public names, with its name and docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return dispatch.add_dispatch_support(function)


# Of one array.


def _scalar(function, x, promote_to_float=False):
    x = asarray(x)
    if promote_to_float and not np.issubdtype(x.dtype.as_numpy_dtype, np.inexact):
        x = math_ops.cast(x, np_utils.result_type(float))
    return function(x)


def _unary(name, doc, function, to_float=True):
    """A function of each element; `to_float`: integers and bools become floats first."""
    return _function(lambda x: _scalar(function, x, to_float), name, doc)


def _signbit(x):
    return array_ops.zeros_like(x) if x.dtype == dtypes.bool else x < 0


def _cbrt(x):
    root = math_ops.pow(math_ops.abs(x), constant_op.constant(1 / 3, x.dtype))
    return array_ops.where_v2(x < 0, -root, root)


def _sinc(x):
    angle = x * constant_op.constant(pi, x.dtype)
    return array_ops.where_v2(math_ops.equal(x, 0), array_ops.ones_like(x), gen.sin(angle) / angle)


def _times(factor):
    return lambda x: x * constant_op.constant(factor, x.dtype)


def _log_to(base):
    return lambda x: gen.log(x) / constant_op.constant(np.log(base), x.dtype)


abs = _unary("abs", "The absolute value.", math_ops.abs, False)
absolute = _unary("absolute", "The absolute value.", math_ops.abs, False)
fabs = _unary("fabs", "The absolute value.", math_ops.abs, False)
arccos = _unary("arccos", "The angle with that cosine.", gen.acos)
arccosh = _unary("arccosh", "The inverse of the hyperbolic cosine.", gen.acosh)
arcsin = _unary("arcsin", "The angle with that sine.", gen.asin)
arcsinh = _unary("arcsinh", "The inverse of the hyperbolic sine.", gen.asinh)
arctan = _unary("arctan", "The angle with that tangent.", gen.atan)
arctanh = _unary("arctanh", "The inverse of the hyperbolic tangent.", gen.atanh)
bitwise_not = _unary("bitwise_not", "All bits inverted; of bools, whether they are false.",
                     lambda x: gen.logical_not(x) if x.dtype == dtypes.bool else gen.invert(x), False)
cbrt = _unary("cbrt", "The cube root.", _cbrt)
ceil = _unary("ceil", "The least whole number that is not less.", gen.ceil)
conj = _unary("conj", "The complex conjugate.", math_ops.conj, False)
conjugate = _unary("conjugate", "The complex conjugate.", math_ops.conj, False)
cos = _unary("cos", "The cosine.", gen.cos)
cosh = _unary("cosh", "The hyperbolic cosine.", gen.cosh)
deg2rad = _unary("deg2rad", "Degrees as radians.", _times(pi / 180.0))
exp = _unary("exp", "e to the power of x.", gen.exp)
exp2 = _unary("exp2", "2 to the power of x.", lambda x: math_ops.pow(constant_op.constant(2, x.dtype), x))
expm1 = _unary("expm1", "exp(x) - 1, precise for small x.", gen.expm1)
fix = _unary("fix", "The whole number towards zero.",
             lambda x: array_ops.where_v2(x < 0, gen.ceil(x), gen.floor(x)))
floor = _unary("floor", "The greatest whole number that is not greater.", gen.floor)
isfinite = _unary("isfinite", "Whether it is neither infinite nor NaN.", gen.is_finite)
isnan = _unary("isnan", "Whether it is NaN.", gen.is_nan)
log = _unary("log", "The natural logarithm.", gen.log)
log10 = _unary("log10", "The logarithm to base 10.", _log_to(10))
log1p = _unary("log1p", "log(1 + x), precise for small x.", gen.log1p)
log2 = _unary("log2", "The logarithm to base 2.", _log_to(2))
negative = _unary("negative", "-x.", math_ops.negative, False)
positive = _unary("positive", "x.", lambda x: x, False)
rad2deg = _unary("rad2deg", "Radians as degrees.", _times(180.0 / pi))
reciprocal = _unary("reciprocal", "1 / x.", gen.reciprocal, False)
signbit = _unary("signbit", "Whether it is less than zero.", _signbit, False)
sin = _unary("sin", "The sine.", gen.sin)
sinc = _unary("sinc", "sin(pi x) / (pi x), which is 1 at 0.", _sinc)
sinh = _unary("sinh", "The hyperbolic sine.", gen.sinh)
sqrt = _unary("sqrt", "The square root.", math_ops.sqrt)
square = _unary("square", "x times x.", math_ops.square, False)
tan = _unary("tan", "The tangent.", gen.tan)
tanh = _unary("tanh", "The hyperbolic tangent.", math_ops.tanh)


def angle(z, deg=False):
    """The angle of a complex number in the plane, in radians or degrees; pi for negative real numbers."""
    def radians(x):
        if x.dtype.is_complex:
            return math_ops.angle(x)
        return array_ops.where_v2(x < 0, constant_op.constant(pi, x.dtype), array_ops.zeros_like(x))
    result = _scalar(radians, z, True)
    return rad2deg(result) if deg else result


def _infinite(x, values):
    x = asarray(x)
    return values(x) if x.dtype.is_floating else array_ops.zeros_like(x, dtypes.bool)


def isinf(x):
    """Whether it is infinite."""
    return _infinite(x, gen.is_inf)


def isneginf(x):
    """Whether it is negative infinity."""
    return _infinite(x, lambda x: math_ops.equal(x, -inf))


def isposinf(x):
    """Whether it is positive infinity."""
    return _infinite(x, lambda x: math_ops.equal(x, inf))


def iscomplex(x):
    """Whether the imaginary part is not zero."""
    return math_ops.not_equal(np_array_ops.imag(x), 0)


def isreal(x):
    """Whether the imaginary part is zero."""
    return math_ops.equal(np_array_ops.imag(x), 0)


def iscomplexobj(x):
    """Whether it is of a complex type."""
    return asarray(x).dtype.is_complex


def isrealobj(x):
    """Whether it is of no complex type."""
    return not iscomplexobj(x)


# Of two arrays.


def _bin_op(function, a, b):
    return function(*np_array_ops._promote_dtype_binary(a, b))


def _binary(name, doc, function, of_bools=None):
    """A function of two arrays brought to one type and, by the op, to one shape; `of_bools`: what stands for it if both
    are bools, or a type in which they are computed."""
    def apply(x1, x2):
        if x1.dtype == dtypes.bool and isinstance(of_bools, dtypes.DType):
            x1, x2 = math_ops.cast(x1, of_bools), math_ops.cast(x2, of_bools)
        elif x1.dtype == dtypes.bool and of_bools:
            return of_bools(x1, x2)
        return function(x1, x2)
    return _function(lambda x1, x2: _bin_op(apply, x1, x2), name, doc)


def _quotient(x1, x2):
    if x1.dtype == dtypes.bool:
        x1, x2 = (math_ops.cast(x, np_utils.result_type(float)) for x in (x1, x2))
    elif not np_dtypes.is_allow_float64() and x1.dtype in (dtypes.int32, dtypes.int64):
        x1, x2 = (math_ops.cast(x, dtypes.float32) for x in (x1, x2))
    return math_ops.truediv(x1, x2)


def _of_integers(function, name):
    def apply(x1, x2):
        if not x1.dtype.is_integer:
            raise ValueError(f"Arguments to {name} must be integers.")
        return function(x1, x2)
    return apply


def _gcd(x1, x2):
    x1, x2 = np_utils.tf_broadcast(math_ops.abs(x1), math_ops.abs(x2))

    def step(x1, x2):
        done = math_ops.equal(x2, 0)
        rest = gen.floor_mod(x1, array_ops.where_v2(done, array_ops.ones_like(x2), x2))
        return array_ops.where_v2(done, x1, x2), array_ops.where_v2(done, x2, rest)

    return while_loop.while_loop(lambda x1, x2: math_ops.reduce_any(math_ops.not_equal(x2, 0)), step, (x1, x2))[0]


def _lcm(x1, x2):
    divisor = gen.maximum(_gcd(x1, x2), array_ops.ones([], x1.dtype))
    return math_ops.abs(x1) * (math_ops.abs(x2) // divisor)


add = _binary("add", "The sum; of bools, whether either is true.", math_ops.add, gen.logical_or)
arctan2 = _binary("arctan2", "The angle of the point (x2, x1).", gen.atan2)
bitwise_and = _binary("bitwise_and", "Bits that are set in both.", gen.bitwise_and, gen.logical_and)
bitwise_or = _binary("bitwise_or", "Bits that are set in either.", gen.bitwise_or, gen.logical_or)
bitwise_xor = _binary("bitwise_xor", "Bits that are set in one.", gen.bitwise_xor, math_ops.logical_xor)
divide = _binary("divide", "The quotient; that of integers is a float.", _quotient)
true_divide = _binary("true_divide", "The quotient; that of integers is a float.", _quotient)
float_power = _binary("float_power", "x1 to the power of x2.", math_ops.pow)
floor_divide = _binary("floor_divide", "The quotient, rounded down.", math_ops.floordiv, dtypes.int8)
gcd = _binary("gcd", "The greatest common divisor of integers.", _of_integers(_gcd, "gcd"))
lcm = _binary("lcm", "The least common multiple of integers.", _of_integers(_lcm, "lcm"))
minimum = _binary("minimum", "The smaller of two elements.", gen.minimum, gen.logical_and)
mod = _binary("mod", "The rest of the division, of the divisor's sign.", gen.floor_mod, dtypes.int8)
multiply = _binary("multiply", "The product; of bools, whether both are true.", math_ops.multiply, gen.logical_and)
nextafter = _binary("nextafter", "The next float after x1 towards x2.", gen.next_after)
power = _binary("power", "x1 to the power of x2.", math_ops.pow)
remainder = _binary("remainder", "The rest of the division, of the divisor's sign.", gen.floor_mod, dtypes.int8)
subtract = _binary("subtract", "The difference.", math_ops.subtract)
_maximum = _binary("maximum", "The greater of two elements.", gen.maximum, gen.logical_or)


def maximum(x1, x2):
    """The greater of two elements; of x and 0 it is `relu`, whose gradient at 0 is 0."""
    if isinstance(x2, numbers.Real) and not isinstance(x2, bool) and x2 == 0 and isinstance(x1, ops.Tensor) \
            and x1.dtype != dtypes.bool:
        return gen.relu(x1)
    return _maximum(x1, x2)


def divmod(x1, x2):
    """`floor_divide` and `mod`."""
    return floor_divide(x1, x2), mod(x1, x2)


def heaviside(x1, x2):
    """0 where x1 is negative, 1 where it is positive, x2 where it is 0."""
    def step(x1, x2):
        zero, one = array_ops.zeros([], x2.dtype), array_ops.ones([], x2.dtype)
        return array_ops.where_v2(x1 < 0, zero, array_ops.where_v2(x1 > 0, one, x2))
    return _scalar(lambda y: y, _bin_op(step, x1, x2), True)


def hypot(x1, x2):
    """The length of the hypotenuse."""
    return sqrt(add(square(x1), square(x2)))


def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2))."""
    return _logaddexp(x1, x2, exp, 1)


def logaddexp2(x1, x2):
    """log2(2**x1 + 2**x2)."""
    return _logaddexp(x1, x2, exp2, np.log(2))


def _logaddexp(x1, x2, exp, scale):
    difference = subtract(x1, x2)
    beyond = log1p(exp(-math_ops.abs(difference)))
    # The difference is NaN for infinities of one sign, whose sum is right.
    return np_array_ops.where(isnan(difference), add(x1, x2), add(maximum(x1, x2), divide(beyond, scale)))


def clip(a, a_min, a_max):
    """The elements, within two bounds of which one may be None. ValueError if both are."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    return clip_ops.clip_by_value(*np_utils.tf_broadcast(*np_array_ops._promote_dtype(a, a_min, a_max)))


def polyval(p, x):
    """The value at x of the polynomial with coefficients p, the highest power's first."""
    def value(p, x):
        coefficients = array_ops.unstack(np_array_ops.atleast_1d(p))
        return array_ops.zeros_like(x) + math_ops.polyval(coefficients, x)
    return _bin_op(value, p, x)


# Comparing.


def _comparison(function, x1, x2, bools_as_integers=False):
    x1, x2 = np_array_ops._promote_dtype_binary(x1, x2)
    if bools_as_integers and x1.dtype == dtypes.bool:
        x1, x2 = math_ops.cast(x1, dtypes.int32), math_ops.cast(x2, dtypes.int32)
    return function(x1, x2)


def _comparing(name, doc, function, bools_as_integers=True):
    return _function(lambda x1, x2: _comparison(function, x1, x2, bools_as_integers), name, doc)


equal = _comparing("equal", "Whether x1 == x2.", math_ops.equal, False)
not_equal = _comparing("not_equal", "Whether x1 != x2.", math_ops.not_equal, False)
greater = _comparing("greater", "Whether x1 > x2.", gen.greater)
greater_equal = _comparing("greater_equal", "Whether x1 >= x2.", gen.greater_equal)
less = _comparing("less", "Whether x1 < x2.", gen.less)
less_equal = _comparing("less_equal", "Whether x1 <= x2.", gen.less_equal)


def array_equal(a1, a2):
    """Whether shapes and all elements are equal."""
    def same(x1, x2):
        if x1.shape.is_fully_defined() and x2.shape.is_fully_defined() and x1.shape != x2.shape:
            return constant_op.constant(False)
        return np_utils.cond(
            math_ops.equal(array_ops.rank(x1), array_ops.rank(x2)),
            lambda: np_utils.cond(math_ops.reduce_all(math_ops.equal(array_ops.shape(x1), array_ops.shape(x2))),
                                  lambda: math_ops.reduce_all(math_ops.equal(x1, x2)),
                                  lambda: constant_op.constant(False)),
            lambda: constant_op.constant(False))
    return _comparison(same, a1, a2)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol |b|; integers must be equal. `equal_nan`: NaN is close to NaN."""
    def close(a, b):
        if not np.issubdtype(a.dtype.as_numpy_dtype, np.inexact):
            return math_ops.equal(a, b)
        absolute, relative = (constant_op.constant(x, a.dtype.real_dtype) for x in (atol, rtol))
        result = math_ops.abs(a - b) <= absolute + relative * math_ops.abs(b)
        return result | (gen.is_nan(a) & gen.is_nan(b)) if equal_nan else result
    return _bin_op(close, a, b)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as `isclose` has it."""
    return np_array_ops.all(isclose(a, b, rtol, atol, equal_nan))


def _logical(name, doc, function):
    return _function(lambda x1, x2: function(asarray(x1, np.bool_), asarray(x2, np.bool_)), name, doc)


logical_and = _logical("logical_and", "Whether both are true.", gen.logical_and)
logical_or = _logical("logical_or", "Whether either is true.", gen.logical_or)
logical_xor = _logical("logical_xor", "Whether one is true.", math_ops.logical_xor)


def logical_not(x):
    """Whether it is false."""
    return gen.logical_not(asarray(x, np.bool_))


# Products of arrays.


def _any_scalar(a, b):
    return a.shape.rank == 0 or b.shape.rank == 0


def dot(a, b):
    """The sum of products over the last dimension of `a` and the last but one of `b` (a vector's only one)."""
    def product(a, b):
        if _any_scalar(a, b):
            return a * b
        return math_ops.tensordot(a, b, [[-1], [-1 if np_utils.known_rank(b, "dot") == 1 else -2]])
    return _bin_op(product, a, b)


def inner(a, b):
    """The sum of products over the last dimensions."""
    return _bin_op(lambda a, b: a * b if _any_scalar(a, b) else math_ops.tensordot(a, b, [[-1], [-1]]), a, b)


def vdot(a, b):
    """The sum of products of all elements, those of `a` conjugated."""
    a, b = np_array_ops._promote_dtype(a, b)
    return dot(math_ops.conj(np_array_ops.ravel(a)), np_array_ops.ravel(b))


def outer(a, b):
    """The products of each element of `a` with each of `b`."""
    return _bin_op(lambda a, b: array_ops.reshape(a, [-1, 1]) * array_ops.reshape(b, [-1]), a, b)


def matmul(x1, x2):
    """The products of matrices in the last two dimensions; vectors stand for a row before and a column behind.
    ValueError for shapes that do not fit."""
    def product(x1, x2):
        try:
            if x2.shape.rank == 1:
                return math_ops.tensordot(x1, x2, axes=1)
            if x1.shape.rank == 1:
                return math_ops.tensordot(x1, x2, axes=[[0], [-2]])
            return math_ops.matmul(x1, x2)
        except errors.InvalidArgumentError as error:
            raise ValueError(str(error)) from error
    return _bin_op(product, x1, x2)


def tensordot(a, b, axes=2):
    """The sum of products over several dimensions: a number of last and first ones, or a list for each array."""
    return _bin_op(lambda a, b: math_ops.tensordot(a, b, axes=axes), a, b)


def kron(a, b):
    """The Kronecker product: each element of `a` times all of `b`."""
    def product(a, b):
        rank = max(np_utils.known_rank(a, "kron"), np_utils.known_rank(b, "kron"))
        a, b = np_array_ops._atleast(rank, a), np_array_ops._atleast(rank, b)
        sizes = array_ops.shape(a) * array_ops.shape(b)
        for axis in range(rank):  # a: (a0, 1, a1, 1, ...), b: (1, b0, 1, b1, ...)
            a, b = array_ops.expand_dims(a, 2 * axis + 1), array_ops.expand_dims(b, 2 * axis)
        return array_ops.reshape(a * b, sizes)
    return _bin_op(product, a, b)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of 2 or 3 elements along the given dimensions; of two vectors of 2 elements only
    the third element of it, which is a number."""
    if axis is not None:
        axisa = axisb = axisc = axis

    def product(a, b):
        a, b = np_array_ops.moveaxis(a, axisa, -1), np_array_ops.moveaxis(b, axisb, -1)
        flat = [x.shape.as_list()[-1] == 2 for x in (a, b)]
        a, b = (array_ops.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, 1]]) if short else x
                for x, short in zip((a, b), flat))
        result = gen.cross(*np_utils.tf_broadcast(a, b))
        return result[..., 2] if flat[0] and flat[1] else np_array_ops.moveaxis(result, -1, axisc)
    return _bin_op(product, a, b)


def einsum(subscripts, *operands, **kwargs):
    """The sum of products that the subscripts describe ("ij,jk->ik").

    casting: "safe" brings the arrays to one type, "no" leaves them. optimize: False, True, "greedy" or "optimal".
    ValueError for others.
    """
    casting = kwargs.get("casting", "safe")
    optimize = kwargs.get("optimize", False)
    if casting not in ("safe", "no"):
        raise ValueError("Invalid value for argument `casting`. Expected casting=\"safe\" or casting=\"no\". "
                         f"Received: casting={casting}")
    if optimize not in (False, None, True, "greedy", "optimal"):
        raise ValueError("Invalid value for argument `optimize`. Expected one of {True, \"greedy\", \"optimal\"}. "
                         f"Received: optimize={optimize}")
    operands = np_array_ops._promote_dtype(*operands) if casting == "safe" else [asarray(x) for x in operands]
    return einsum_v2.einsum(subscripts, *operands, optimize="optimal" if optimize == "optimal" else "greedy")


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of the diagonals of the matrices in two dimensions."""
    return np_array_ops.sum(np_array_ops.diagonal(asarray(a, dtype), offset, axis1, axis2), -1, dtype)


# Reductions and what runs along a dimension.


def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum along `axis` of what is not NaN."""
    return np_array_ops.sum(_without_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    """The product along `axis` of what is not NaN."""
    return np_array_ops.prod(_without_nan(a, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _without_nan(a, value):
    a = asarray(a)
    return array_ops.where_v2(isnan(a), constant_op.constant(value, a.dtype), a)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """The mean along `axis` of what is not NaN."""
    a = asarray(a)
    if not np.issubdtype(a.dtype.as_numpy_dtype, np.inexact):
        return np_array_ops.mean(a, axis=axis, dtype=dtype, keepdims=keepdims)
    number = np_array_ops.sum(logical_not(isnan(a)), axis=axis, dtype=dtype or a.dtype, keepdims=keepdims)
    return nansum(a, axis=axis, dtype=dtype or a.dtype, keepdims=bool(keepdims)) / number


def ptp(a, axis=None, keepdims=None):
    """The greatest element less the smallest along `axis`."""
    return np_array_ops.amax(a, axis, keepdims=keepdims) - np_array_ops.amin(a, axis, keepdims=keepdims)


def average(a, axis=None, weights=None, returned=False):
    """The mean along `axis`, weighted; `weights` have the shape of `a` or are a vector along `axis`. With `returned`
    also the sum of the weights. ValueError if `axis` is no int; InvalidArgumentError if the shapes do not fit."""
    if axis is not None and not isinstance(axis, int):
        raise ValueError(f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})")
    a = asarray(a)
    types = [a.dtype] if weights is None else [a.dtype, weights]
    if not np.issubdtype(a.dtype.as_numpy_dtype, np.inexact):
        types.append(np_utils.result_type(float))
    dtype = np_utils.result_type(*types)
    a = math_ops.cast(a, dtype)
    if weights is None:
        result = math_ops.reduce_mean(a, axis=axis)
        total = math_ops.cast(array_ops.size(a) if axis is None else array_ops.shape(a)[axis], dtype)
    else:
        weights = asarray(weights, dtype)
        if axis is not None and weights.shape.rank != a.shape.rank:
            control_flow_ops.Assert(math_ops.equal(array_ops.rank(weights), 1), [array_ops.rank(weights)])
            total = math_ops.reduce_sum(weights)
            result = math_ops.tensordot(a, weights, [[axis], [0]]) / total
        else:
            same = math_ops.reduce_all(math_ops.equal(array_ops.shape(a), array_ops.shape(weights)))
            control_flow_ops.Assert(same, [array_ops.shape(a), array_ops.shape(weights)])
            total = math_ops.reduce_sum(weights, axis=axis)
            result = math_ops.reduce_sum(a * weights, axis=axis) / total
    return (result, gen.broadcast_to(total, array_ops.shape(result))) if returned else result


def count_nonzero(a, axis=None):
    """The number of elements along `axis` that are not zero."""
    return math_ops.count_nonzero(asarray(a), axis)


def _argument(function, a, axis):
    a = asarray(a)
    return function(np_array_ops.ravel(a) if axis is None else np_array_ops.atleast_1d(a), axis=axis or 0)


def argmax(a, axis=None):
    """The index of the greatest element along `axis`, or in the flat array."""
    return _argument(math_ops.argmax_v2, a, axis)


def argmin(a, axis=None):
    """The index of the smallest element along `axis`, or in the flat array."""
    return _argument(math_ops.argmin_v2, a, axis)


def _check_sort(kind, order, kinds):
    if kind not in kinds:
        allowed = " and ".join(f'kind="{k}"' for k in kinds)
        raise ValueError(f"Invalid value for argument `kind`. Only {allowed} {'are' if len(kinds) > 1 else 'is'} "
                         f"supported. Received: kind={kind}")
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


def argsort(a, axis=-1, kind="quicksort", order=None):
    """The indices that sort `a` along `axis`, or the flat array. ValueError for a `kind` other than "quicksort" and
    "stable", or any `order`."""
    _check_sort(kind, order, ("quicksort", "stable"))
    a = np_array_ops.atleast_1d(a)
    if axis is None:
        a, axis = np_array_ops.ravel(a), 0
    return math_ops.cast(sort_ops.argsort(a, axis, stable=kind == "stable"), np.intp)


def sort(a, axis=-1, kind="quicksort", order=None):
    """`a`, sorted along `axis`, or as a flat array. ValueError for a `kind` other than "quicksort", or any `order`."""
    _check_sort(kind, order, ("quicksort",))
    return sort_ops.sort(np_array_ops.ravel(a), 0) if axis is None else sort_ops.sort(asarray(a), axis)


def diff(a, n=1, axis=-1):
    """The differences of neighbours along `axis`, n times. ValueError for an unknown rank, an axis outside or a
    negative n."""
    a = asarray(a)
    rank = a.shape.rank
    if rank is None:
        raise ValueError("Function `diff` currently requires a known rank for input `a`. "
                         f"Received: a={a} (unknown rank)")
    if (axis + rank if axis < 0 else axis) >= rank:
        raise ValueError(f"Argument `axis` (received axis={axis}) is out of bounds for input {a} of rank {rank}.")
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer. Received: axis={n}")
    before = [slice(None)] * rank
    after = list(before)
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    for _ in range(n):
        difference = math_ops.not_equal if a.dtype == dtypes.bool else math_ops.subtract
        a = difference(a[tuple(after)], a[tuple(before)])
    return a


def concatenate(arys, axis=0):
    """The arrays, joined along `axis`. ValueError if there are none."""
    if not isinstance(arys, (list, tuple)):
        arys = [arys]
    if not arys:
        raise ValueError(f"Need at least one array to concatenate. Received empty input: arys={arys}")
    return np_array_ops._joined(arys, axis)


def append(arr, values, axis=None):
    """The two arrays, joined along `axis`, or as vectors without one."""
    if axis is None:
        arr, values, axis = np_array_ops.ravel(arr), np_array_ops.ravel(values), 0
    return concatenate([arr, values], axis)


def tile(a, reps):
    """`a`, repeated as often as `reps` says along its last dimensions."""
    a = asarray(a)
    reps = array_ops.reshape(asarray(reps, dtypes.int32), [-1])
    sizes = np_array_ops._pad_left_to(array_ops.size(reps), array_ops.shape(a))
    return gen.tile(array_ops.reshape(a, sizes), np_array_ops._pad_left_to(array_ops.rank(a), reps))


def meshgrid(*xi, **kwargs):
    """Grids of the coordinates in the given vectors; `indexing`: "xy" or "ij". ValueError for sparse grids and for
    `copy=False`."""
    if kwargs.get("sparse", False):
        raise ValueError("Function `meshgrid` does not support returning sparse arrays yet. "
                         f"Received: sparse={kwargs['sparse']}")
    if not kwargs.get("copy", True):
        raise ValueError(f"Function `meshgrid` only supports copy=True. Received: copy={kwargs['copy']}")
    return array_ops.meshgrid(*[asarray(x) for x in xi], indexing=kwargs.get("indexing", "xy"))


# Ranges.


def _range_type(start, stop):
    """The type of a range: that of floats, wider if the ends are; a Python number has no say beside an array."""
    return np_utils.result_type([x * 1.0 if isinstance(x, (numbers.Number, np.ndarray)) else multiply(x, 1.0)
                                 for x in (start, stop)])


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """`num` numbers from `start` to `stop` (without `stop` if `endpoint` is false) along a new dimension `axis`. With
    `retstep` also the step between them. ValueError if `num` is negative."""
    if num < 0:
        raise ValueError("Argument `num` (number of samples) must be a non-negative integer. "
                         f"Received: num={num}")
    if dtype is None or dtype is float:  # == would hold of tf.float32 too
        dtype = _range_type(start, stop)
    dtype = np_utils.result_type(dtype)
    work = dtype if dtype.is_floating or dtype.is_complex else dtypes.float64
    start, stop = asarray(start, work), asarray(stop, work)
    step = constant_op.constant(np.nan, work)
    last = stop
    if endpoint and num > 1:
        step = (stop - start) / constant_op.constant(num - 1, work)
    elif not endpoint and num > 0:
        step = (stop - start) / constant_op.constant(num, work)
        last = stop - step if num > 1 else stop
    result = math_ranges.linspace(start, last, num, axis=axis)
    if dtype.is_integer:
        result = gen.floor(result)
    result = math_ops.cast(result, dtype)
    return (result, step) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`num` numbers from base**start to base**stop whose logarithms are evenly spaced."""
    exponents = linspace(start, stop, num, endpoint, dtype=None, axis=axis)
    result = math_ops.pow(asarray(base, exponents.dtype), exponents)
    return math_ops.cast(result, np_utils.result_type(dtype)) if dtype else result


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop`, each the same multiple of the one before it."""
    dtype = np_utils.result_type(dtype) if dtype else np_utils.result_type(start, stop, float(num))
    work = np.promote_types(dtype.as_numpy_dtype, np.float32)
    start, stop = asarray(start, work), asarray(stop, work)
    # Two negative ends give negative numbers.
    one = array_ops.ones([], start.dtype)
    sign = array_ops.where_v2((start < 0) & (stop < 0), -one, one)
    return math_ops.cast(sign * logspace(log10(sign * start), log10(sign * stop), num, endpoint, axis=axis), dtype)


# Tensor's methods and properties.


def _tolist(self):
    """The value as nested lists. ValueError for a tensor of a graph."""
    if not self._is_eager:
        raise ValueError("Symbolic Tensors do not support the tolist API.")
    return self._numpy().tolist()


def _size(self):
    """The number of elements; None if it is not known."""
    return np.prod(self.shape.as_list(), dtype=int) if self.shape.is_fully_defined() else None


def _enable_numpy_methods(tensor_class):
    for name, function in (
            ("T", property(np_array_ops.transpose)), ("ndim", property(lambda self: self.shape.ndims)),
            ("size", property(_size)), ("data", property(lambda self: self)), ("__pos__", lambda self: self),
            ("tolist", _tolist), ("transpose", np_array_ops.transpose), ("flatten", np_array_ops.flatten),
            ("reshape", np_array_ops._reshape_method_wrapper), ("ravel", np_array_ops.ravel), ("clip", clip),
            ("astype", math_ops.cast), ("__round__", np_array_ops.around), ("max", np_array_ops.amax),
            ("mean", np_array_ops.mean), ("min", np_array_ops.amin)):
        setattr(tensor_class, name, function)


def enable_numpy_methods_on_tensor():
    """Gives Tensor the methods `T`, `reshape`, `astype`, `max`... of NumPy's arrays."""
    _enable_numpy_methods(np_arrays.ndarray)
    _enable_numpy_methods(EagerTensor)  # which has some of them itself
