"""Elementwise arithmetic: casts, the kinds of division, complex numbers, ranges."""
import logging

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, indexed_slices, ops, sparse_tensor
from penstock._src.base import tf2
from penstock._src.core_ops.array_create import ones_like, zeros_like
from penstock._src.core_ops.array_slice import where_v2
from penstock._src.base import nest

__all__ = [
    "abs", "add", "angle", "angle_v2", "cast", "complex", "conj", "div", "div_no_nan", "divide", "equal", "floordiv",
    "imag", "log_sigmoid", "logical_xor", "multiply", "multiply_no_nan", "not_equal", "polyval", "pow", "range", "real",
    "reciprocal_no_nan", "round", "saturate_cast", "scalar_mul", "scalar_mul_v2", "sigmoid", "subtract", "to_bfloat16",
    "to_complex128", "to_complex64", "to_double", "to_float", "to_int32", "to_int64", "truediv",
]


def abs(x, name=None):
    """The absolute value; of complex numbers the magnitude."""
    with ops.name_scope(name, "Abs", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return gen.complex_abs(x, Tout=x.dtype.real_dtype, name=name)
        return gen.abs(x, name=name)


def sign(x, name=None):
    """-1, 0 or 1 by the sign of x; of complex numbers x / |x|, or 0, which in version 2 has a gradient."""
    x = ops.convert_to_tensor(x)
    if x.dtype.is_complex and tf2.enabled():
        return gen.div_no_nan(x, cast(gen.complex_abs(x, Tout=x.dtype.real_dtype), x.dtype), name=name)
    return gen.sign(x, name=name)


def add(x, y, name=None):
    """x + y, element by element; strings are concatenated. Version 2's node is an AddV2, which has more types."""
    if not tf2.enabled():
        return gen.add(x, y, name=name)
    if isinstance(x, ops.Tensor):
        function = gen.add if x.dtype == dtypes.string else gen.add_v2
        try:
            return function(x, y, name=name or "Add")
        except TypeError:
            if not x._is_eager or ops.is_dense_tensor_like(y):
                raise
        return function(x, ops.convert_to_tensor(y, dtype_hint=x.dtype), name=name or "Add")
    with ops.name_scope(name, "Add", [x]) as name:
        return add(ops.convert_to_tensor(x, dtype_hint=getattr(y, "dtype", None), name="x"), y, name)


def multiply(x, y, name=None):
    """x * y, element by element."""
    return gen.mul(x, y, name=name)


def subtract(x, y, name=None):
    """x - y, element by element."""
    return gen.sub(x, y, name=name)


def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor or IndexedSlices."""
    scalar = ops.convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.get_shape().ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.get_shape()}")
    if isinstance(x, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(gen.mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return gen.mul(scalar, x, name=name)


def scalar_mul_v2(scalar, x, name=None):
    """A scalar times a tensor or IndexedSlices."""
    with ops.name_scope(name, "scalar_mul", [x]) as name:
        return scalar_mul(scalar, x, name)


def pow(x, y, name=None):
    """x to the power of y."""
    with ops.name_scope(name, "Pow", [x]) as name:
        return gen.pow(x, y, name=name)


def round(x, name=None):
    """The nearest whole number; halves go to the even one."""
    x = ops.convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else gen.round(x, name=name)


def sigmoid(x, name=None):
    """1 / (1 + exp(-x))."""
    with ops.name_scope(name, "Sigmoid", [x]) as name:
        return gen.sigmoid(ops.convert_to_tensor(x, name="x"), name=name)


def log_sigmoid(x, name=None):
    """log(sigmoid(x)) without overflow."""
    with ops.name_scope(name, "LogSigmoid", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return gen.neg(gen.softplus(-x), name=name)


def logical_xor(x, y, name="LogicalXor"):
    """True where exactly one of x and y is."""
    either = gen.logical_or(x, y)
    both = gen.logical_and(x, y)
    return gen.logical_and(either, gen.logical_not(both), name=name)


def equal(x, y, name=None):
    """x == y, element by element."""
    return gen.equal(x, y, name=name)


def not_equal(x, y, name=None):
    """x != y, element by element."""
    return gen.not_equal(x, y, name=name)


def polyval(coeffs, x, name=None):
    """A polynomial at x, by Horner's rule; the first coefficient belongs to the highest power.

    ValueError, in version 2: coefficients that are no list.
    """
    if tf2.enabled() and not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with ops.name_scope(name, "polyval", nest.flatten(coeffs) + [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return zeros_like(x, name=name)
        parts = [ops.convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        result = parts[0]
        for part in parts[1:]:
            result = part + result * x
        return result


# Casts


def _is_variable_of_resource(x):
    return hasattr(x, "handle") and hasattr(x, "read_value")


def cast(x, dtype, name=None):
    """The same values in another type; works on SparseTensors and IndexedSlices too.

    Floats are cut off towards zero as integers are made of them; bool gives 0 and 1, and anything but 0 is True. Of
    complex values the real part stays.
    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    if (isinstance(x, ops.Tensor) or _is_variable_of_resource(x)) and wanted == x.dtype:
        return x
    with ops.name_scope(name, "Cast", [x]) as name:
        if isinstance(x, sparse_tensor.SparseTensor):
            return sparse_tensor.SparseTensor(x.indices, cast(x.values, wanted, name=name), x.dense_shape)
        if isinstance(x, indexed_slices.IndexedSlices):
            return indexed_slices.IndexedSlices(cast(x.values, wanted, name=name), x.indices, x.dense_shape)
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.base_dtype == wanted:
            return x
        if x.dtype.is_complex and wanted.is_floating:
            logging.getLogger("tensorflow").warning("Casting complex to real discards imaginary part.")
        return gen.cast(x, wanted, name=name)


_DIGITS = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}  # bits of a significand


def _limit(number, source):
    """Returns `number`, rounded towards 0 to a value that a tensor of type `source` can hold."""
    number = number if isinstance(number, int) else int(float(number))
    if source not in _DIGITS:
        return number
    spare = max(max(number, -number).bit_length() - _DIGITS[source], 0)
    return float((number >> spare << spare) if number > 0 else -(-number >> spare << spare))


def saturate_cast(value, dtype, name=None):
    """`cast` of values that are first brought into the range of `dtype`.

    The limits are those that the type of `value` can hold: 4294967040 is the largest uint32 of floats. In version 2
    infinities become the largest numbers, too; NaN stays. Complex numbers lose their imaginary part if `dtype` has
    none.
    """
    with ops.name_scope(name, "saturate_cast", [value]) as name:
        value = ops.convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.is_complex and dtype.is_complex:
            part = dtype.real_dtype
            if value.dtype.real_dtype.max > part.max:
                return complex(saturate_cast(real(value), part), saturate_cast(imag(value), part), name=name)
            return cast(value, dtype, name=name)
        if value.dtype.is_complex:
            logging.warning("Casting complex to real discards imaginary part.")
            value = real(value)
        source, target = value.dtype.base_dtype, dtype.real_dtype
        if not tf2.enabled():
            if source.min < target.min:
                value = gen.maximum(value, ops.convert_to_tensor(target.min, dtype=source, name="min"))
            if source.max > target.max:
                value = gen.minimum(value, ops.convert_to_tensor(target.max, dtype=source, name="max"))
        else:
            low, high = max(source.min, target.min), min(source.max, target.max)
            value = gen.clip_by_value(value, ops.convert_to_tensor(_limit(low, source), dtype=source, name="min"),
                                      ops.convert_to_tensor(_limit(high, source), dtype=source, name="max"))
        return cast(value, dtype, name=name)


def to_float(x, name="ToFloat"):
    """Casts to float32."""
    return cast(x, dtypes.float32, name=name)


def to_double(x, name="ToDouble"):
    """Casts to float64."""
    return cast(x, dtypes.float64, name=name)


def to_int32(x, name="ToInt32"):
    """Casts to int32."""
    return cast(x, dtypes.int32, name=name)


def to_int64(x, name="ToInt64"):
    """Casts to int64."""
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x, name="ToBFloat16"):
    """Casts to bfloat16."""
    return cast(x, dtypes.bfloat16, name=name)


def to_complex64(x, name="ToComplex64"):
    """Casts to complex64."""
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x, name="ToComplex128"):
    """Casts to complex128."""
    return cast(x, dtypes.complex128, name=name)


# Division

_QUOTIENT_TYPES = {  # the type to which a type is cast before division; None: unchanged
    dtypes.uint8: dtypes.float32, dtypes.int8: dtypes.float32, dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32, dtypes.uint32: dtypes.float64, dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64, dtypes.int64: dtypes.float64, dtypes.bfloat16: None, dtypes.float16: None,
    dtypes.float32: None, dtypes.float64: None, dtypes.complex64: None, dtypes.complex128: None,
}


def require_same_dtype(x, y):
    """The common type of two tensors; TypeError if they differ."""
    x_dtype, y_dtype = x.dtype.base_dtype, y.dtype.base_dtype
    if x_dtype != y_dtype:
        if tf2.enabled():
            raise TypeError(f"`x` and `y` must have the same dtype, got {x_dtype!r} != {y_dtype!r}.")
        raise TypeError(f"x and y must have the same dtype, got {x_dtype!r} != {y_dtype!r}")
    return x_dtype


def as_quotient_operands(x, y):
    """Two tensors in the type in which `/` divides them."""
    dtype = require_same_dtype(x, y)
    if dtype not in _QUOTIENT_TYPES:
        expected = f". Expected one of {{{', '.join(map(repr, _QUOTIENT_TYPES))}}}." if tf2.enabled() else ""
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__{expected}")
    wanted = _QUOTIENT_TYPES[dtype]
    return (x, y) if wanted is None else (cast(x, wanted), cast(y, wanted))


def truediv(x, y, name=None):
    """x / y as Python 3 has it: integers are divided as floating-point numbers."""
    with ops.name_scope(name, "truediv", [x, y]) as name:
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype_hint=x.dtype.base_dtype)
        x, y = as_quotient_operands(x, y)
        return gen.real_div(x, y, name=name)


def _operands(x, y):
    x = ops.convert_to_tensor(x, name="x")
    y = ops.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
    return x, y, require_same_dtype(x, y)


def div(x, y, name=None):
    """x / y as Python 2 has it: whole numbers give the floor of the quotient."""
    with ops.name_scope(name, "div", [x, y]) as name:
        x, y, dtype = _operands(x, y)
        op = gen.real_div if dtype.is_floating or dtype.is_complex else gen.floor_div
        return op(x, y, name=name)


def div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0; integers are divided as floating-point numbers."""
    with ops.name_scope(name, "div_no_nan", [x, y]) as name:
        kind = y.dtype.base_dtype if isinstance(y, ops.Tensor) and not isinstance(x, ops.Tensor) else None
        x = ops.convert_to_tensor(x, dtype=kind, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype_hint=x.dtype.base_dtype)
        x, y = as_quotient_operands(x, y)
        return gen.div_no_nan(x, y, name=name)


def multiply_no_nan(x, y, name=None):
    """x * y, and 0 where y is 0 even if x is infinite or not a number."""
    with ops.name_scope(name, "multiply_no_nan", [x, y]) as name:
        x, y, _ = _operands(x, y)
        return gen.mul_no_nan(x, y, name=name)


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    with ops.name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = ops.convert_to_tensor(x, name="x")
        one = constant_op.constant(1, dtype=x.dtype.base_dtype, name="one")
        return gen.div_no_nan(one, x, name=scope)


def floordiv(x, y, name=None):
    """x // y: the quotient rounded down."""
    with ops.name_scope(name, "floordiv", [x, y]) as name:
        return gen.floor_div(x, y, name=name)


def divide(x, y, name=None):
    """x / y with Python's operator, in version 2 always a tensor; with a name, as `truediv`."""
    if name is not None:
        return truediv(x, y, name)
    if tf2.enabled() and not isinstance(x, ops.Tensor) and not isinstance(y, ops.Tensor):
        x = ops.convert_to_tensor(x)
    return x / y


# Complex numbers


def complex(real, imag, name=None):
    """real + i * imag."""
    real = ops.convert_to_tensor(real, name="real")
    imag = ops.convert_to_tensor(imag, name="imag")
    with ops.name_scope(name, "Complex", [real, imag]) as name:
        result = {dtypes.float64: dtypes.complex128, dtypes.float32: dtypes.complex64}.get(real.dtype.base_dtype)
        if result is None or real.dtype.base_dtype != imag.dtype.base_dtype:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return gen.complex(real, imag, Tout=result, name=name)


def _part(input, name, default_name, of_complex, of_real):
    with ops.name_scope(name, default_name, [input]) as name:
        input = ops.convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return of_complex(input, Tout=input.dtype.real_dtype, name=name)
        return of_real(input)


def real(input, name=None):
    """The real part. TypeError, in version 2: no numbers."""
    def same(x):
        if tf2.enabled() and not (x.dtype.is_floating or x.dtype.is_integer):
            raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype}")
        return x
    return _part(input, name, "Real", gen.real, same)


def imag(input, name=None):
    """The imaginary part."""
    return _part(input, name, "Imag", gen.imag, zeros_like)


def angle(input, name=None):
    """The argument of complex numbers, in radians; 0 of real ones but, in version 2, pi of negative ones."""
    if tf2.enabled():
        return angle_v2(input, name)
    return _part(input, name, "Angle", gen.angle, zeros_like)


def angle_v2(input, name=None):
    """The argument of complex numbers, in radians; pi for negative real ones."""
    return _part(input, name, "Angle", gen.angle, lambda x: where_v2(x < 0, np.pi * ones_like(x), zeros_like(x)))


def conj(x, name=None):
    """The complex conjugate; real numbers stay."""
    if isinstance(x, ops.Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with ops.name_scope(name, "Conj", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype == dtypes.variant:
            return gen.conj(x, name=name)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


# Ranges

_RANGE_TYPES = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]  # in the order in which they widen


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` (0 if there is only a limit) to before `limit` in steps of `delta`: a vector.

    Scalars of int32, int64, float32 or float64; the result has `dtype`, or the widest type among them.
    InvalidArgumentError, or ValueError while a graph is built: delta is 0 or leads away from the limit.
    """
    if limit is None:
        start, limit = 0, start
    with ops.name_scope(name, "Range", [start, limit, delta]) as name:
        parts = [value if isinstance(value, ops.Tensor) else ops.convert_to_tensor(value, dtype=dtype, name=label)
                 for value, label in ((start, "start"), (limit, "limit"), (delta, "delta"))]
        if dtype is not None:
            parts = [cast(part, dtype) for part in parts]
        else:
            assert all(part.dtype in _RANGE_TYPES for part in parts)
            widest = max((part.dtype for part in parts), key=_RANGE_TYPES.index)
            parts = [cast(part, widest) for part in parts]
        return gen.range(*parts, name=name)
