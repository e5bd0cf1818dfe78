"""The normal distribution's functions, accurate in its tails (float32 and float64)."""
import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops

__all__ = ["erfinv", "log_cdf_laplace", "log_ndtr", "ndtr", "ndtri"]

# log_ndtr: below LOWER the asymptotic series, above UPPER log(1 - p) = -p.
LOGNDTR_FLOAT64_LOWER = np.array(-20, np.float64)
LOGNDTR_FLOAT32_LOWER = np.array(-10, np.float32)
LOGNDTR_FLOAT64_UPPER = np.array(8, np.float64)
LOGNDTR_FLOAT32_UPPER = np.array(5, np.float32)

# Cephes' rational approximations of the quantile: numerator and denominator, highest power first. In w = (p - 1/2)^2
# for p > exp(-2); in 1 / sqrt(-2 log p) below, up to and from where the root is 8.
_CENTRE = ([-5.99633501014107895267E1, 9.80010754185999661536E1, -5.66762857469070293439E1,
            1.39312609387279679503E1, -1.23916583867381258016E0],
           [1.0, 1.95448858338141759834E0, 4.67627912898881538453E0, 8.63602421390890590575E1,
            -2.25462687854119370527E2, 2.00260212380060660359E2, -8.20372256168333339912E1,
            1.59056225126211695515E1, -1.18331621121330003142E0])
_TAIL = ([4.05544892305962419923E0, 3.15251094599893866154E1, 5.71628192246421288162E1, 4.40805073893200834700E1,
          1.46849561928858024014E1, 2.18663306850790267539E0, -1.40256079171354495875E-1,
          -3.50424626827848203418E-2, -8.57456785154685413611E-4],
         [1.0, 1.57799883256466749731E1, 4.53907635128879210584E1, 4.13172038254672030440E1,
          1.50425385692907503408E1, 2.50464946208309415979E0, -1.42182922854787788574E-1,
          -3.80806407691578277194E-2, -9.33259480895457427372E-4])
_FAR_TAIL = ([3.23774891776946035970E0, 6.91522889068984211695E0, 3.93881025292474443415E0,
              1.33303460815807542389E0, 2.01485389549179081538E-1, 1.23716634817820021358E-2,
              3.01581553508235416007E-4, 2.65806974686737550832E-6, 6.23974539184983293730E-9],
             [1.0, 6.02427039364742014255E0, 3.67983563956160859403E0, 1.37702099489081330271E0,
              2.16236993594496635890E-1, 1.34204006088543189037E-2, 3.28014464682127739104E-4,
              2.89247864745380683936E-6, 6.79019408009981274425E-9])


def _float_tensor(value, name):
    value = ops.convert_to_tensor(value, name=name)
    if value.dtype.as_numpy_dtype not in (np.float32, np.float64):
        raise TypeError("%s.dtype=%s is not handled, see docstring for supported types." % (name, value.dtype))
    return value


def ndtr(x, name="ndtr"):
    """P[X <= x] of the standard normal distribution. TypeError but for float32 and float64."""
    with ops.name_scope(name, values=[x]):
        return _ndtr(_float_tensor(x, "x"))


def _ndtr(x):
    half_sqrt_2 = constant_op.constant(0.5 * np.sqrt(2.), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = math_ops.abs(w)
    # erf near zero and erfc in the tails: neither loses digits by a difference from 1.
    return 0.5 * array_ops.where_v2(gen.less(z, half_sqrt_2), 1. + math_ops.erf(w), array_ops.where_v2(
        gen.greater(w, 0.), 2. - gen.erfc(z), gen.erfc(z)))


def ndtri(p, name="ndtri"):
    """The x for which ndtr(x) is p; infinite at 0 and 1. TypeError but for float32 and float64."""
    with ops.name_scope(name, values=[p]):
        return _ndtri(_float_tensor(p, "p"))


def _ratio(x, polynomials):
    def value(coefficients):
        # Horner's scheme from the constant term outwards; each step is one multiplication and one addition.
        result = array_ops.zeros_like(x)
        for c in np.array(coefficients, x.dtype.as_numpy_dtype):
            result = c + result * x
        return result

    return value(polynomials[0]) / value(polynomials[1])


def _ndtri(p):
    number = p.dtype.as_numpy_dtype
    lower = array_ops.where_v2(p > -np.expm1(-2.), 1. - p, p)
    # What is no probability gets one, so that gradients of the branch that is not taken are finite.
    lower = array_ops.where_v2(lower <= 0., array_ops.fill(array_ops.shape(p), np.array(0.5, number)), lower)
    w = lower - 0.5
    ww = w ** 2
    centre = (w + w * ww * _ratio(ww, _CENTRE)) * -np.sqrt(2. * np.pi)
    z = math_ops.sqrt(-2. * gen.log(lower))
    first = z - gen.log(z) / z
    far_tail = first - _ratio(1. / z, _FAR_TAIL) / z
    tail = first - _ratio(1. / z, _TAIL) / z
    x = array_ops.where_v2(lower > np.exp(-2.), centre, array_ops.where_v2(z >= 8.0, far_tail, tail))
    x = array_ops.where_v2(p > 1. - np.exp(-2.), x, -x)
    infinity = array_ops.fill(array_ops.shape(p), np.array(np.inf, number))
    return array_ops.where_v2(p <= 0.0, -infinity, array_ops.where_v2(p >= 1.0, infinity, x))


def log_ndtr(x, series_order=3, name="log_ndtr"):
    """log(ndtr(x)), by an asymptotic series of `series_order` terms (0 to 30) far below zero.

    TypeError for other types than float32 and float64, and for an order that is no int; ValueError for its range.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.as_numpy_dtype == np.float64:
            lower, upper = LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER
        elif x.dtype.as_numpy_dtype == np.float32:
            lower, upper = LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER
        else:
            raise TypeError("x.dtype=%s is not supported." % x.dtype)
        middle = gen.log(_ndtr(gen.maximum(x, lower)))
        return array_ops.where_v2(gen.greater(x, upper), -_ndtr(-x), array_ops.where_v2(
            gen.greater(x, lower), middle, _log_ndtr_lower(gen.minimum(x, lower), series_order)))


def _log_ndtr_lower(x, series_order):
    log_scale = -0.5 * math_ops.square(x) - gen.log(-x) - 0.5 * np.log(2. * np.pi)
    return log_scale + gen.log(_log_ndtr_asymptotic_series(x, series_order))


def _log_ndtr_asymptotic_series(x, series_order):
    """1 - 1/x^2 + 3!!/x^4 - 5!!/x^6 ..., even and odd terms summed apart."""
    number = x.dtype.as_numpy_dtype
    if series_order <= 0:
        return np.array(1, number)
    square = power = math_ops.square(x)
    sums = [array_ops.zeros_like(x), array_ops.zeros_like(x)]
    for n in range(1, series_order + 1):
        sums[n % 2] += np.array(np.prod(np.arange(2. * n - 1, 1, -2)), number) / power
        power *= square
    return 1. + sums[0] - sums[1]


def erfinv(x, name="erfinv"):
    """The y for which erf(y) is x. TypeError but for float32 and float64."""
    with ops.name_scope(name, values=[x]):
        return ndtri((_float_tensor(x, "x") + 1.0) / 2.0) / np.sqrt(2)


def log_cdf_laplace(x, name="log_cdf_laplace"):
    """log P[X <= x] of the standard Laplace distribution."""
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        # exp of -|x| cannot overflow, so neither branch has a gradient of NaN.
        above = gen.log1p(-0.5 * gen.exp(-math_ops.abs(x)))
        return array_ops.where_v2(x < 0., -np.log(2.) + x, above)
