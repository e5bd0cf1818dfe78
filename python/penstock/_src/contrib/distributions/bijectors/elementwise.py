"""Bijectors that map number by number."""
import numpy as np

from penstock._src.graph import constant_op, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.distributions import bijector, util

__all__ = ["AbsoluteValue", "AffineScalar", "Exp", "Gumbel", "Kumaraswamy", "PowerTransform", "Sigmoid", "SinhArcsinh",
           "Softplus", "Softsign", "Square"]


class _Elementwise(bijector.Bijector):
    """One whose `validate_args` lets it check numbers."""

    def __init__(self, validate_args, name, is_constant_jacobian=False, graph_parents=None):
        super().__init__(graph_parents=graph_parents, forward_min_event_ndims=0, validate_args=validate_args, name=name,
                         is_constant_jacobian=is_constant_jacobian)

    def _checked(self, value, check, *bounds, message):
        if not self.validate_args:
            return value
        return control_flow_ops.with_dependencies([check(value, *bounds, message=message)], value)


class AbsoluteValue(_Elementwise):
    """y = |x|. It is not injective: `inverse` gives (-y, y)."""

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self):
        return False

    def _forward(self, x):
        return math_ops.abs(x)

    def _inverse(self, y):
        y = self._checked(y, check_ops.assert_non_negative, message="Argument y was negative")
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        y = self._checked(y, check_ops.assert_non_negative, message="Argument y was negative")
        with ops.control_dependencies([y] if self.validate_args else []):
            zero = array_ops.identity(constant_op.constant(0., dtype=y.dtype))
        return zero, zero


class AffineScalar(_Elementwise):
    """y = scale * x + shift, each of which may be left out."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with ops.name_scope(name), ops.name_scope("init", values=[scale, shift]):
            self._shift = None if shift is None else ops.convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else ops.convert_to_tensor(scale, name="scale")
            if validate_args and scale is not None:
                check = check_ops.assert_none_equal(self._scale, array_ops.zeros([], self._scale.dtype))
                self._scale = control_flow_ops.with_dependencies([check], self._scale)
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def shift(self):
        """What is added."""
        return self._shift

    @property
    def scale(self):
        """What is multiplied by."""
        return self._scale

    def _forward(self, x):
        y = array_ops.identity(x) if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = array_ops.identity(y) if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return constant_op.constant(0., dtype=x.dtype.base_dtype)
        return gen.log(math_ops.abs(self.scale))


class PowerTransform(_Elementwise):
    """y = (1 + power * x) ** (1 / power), and exp(x) if the power is 0. ValueError unless it is known, from 0 on."""

    def __init__(self, power=0., validate_args=False, name="power_transform"):
        power = tensor_util.constant_value(ops.convert_to_tensor(power, name="power"))
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = power
        super().__init__(validate_args, name)

    @property
    def power(self):
        """The power."""
        return self._power

    def _from(self, x):
        if not self.validate_args or self.power == 0.:
            return x
        check = check_ops.assert_non_negative(
            1. + self.power * x, message=f"Forward transformation input must be at least {-1. / self.power}.")
        return control_flow_ops.with_dependencies([check], x)

    def _positive(self, y):
        return self._checked(y, check_ops.assert_positive,
                             message="Inverse transformation input must be greater than 0.")

    def _forward(self, x):
        x = self._from(x)
        return gen.exp(x if self.power == 0. else gen.log1p(x * self.power) / self.power)

    def _inverse(self, y):
        y = self._positive(y)
        return gen.log(y) if self.power == 0. else gen.expm1(gen.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y):
        return (self.power - 1.) * gen.log(self._positive(y))

    def _forward_log_det_jacobian(self, x):
        x = self._from(x)
        return x if self.power == 0. else (1. / self.power - 1.) * gen.log1p(x * self.power)


class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


class Gumbel(_Elementwise):
    """y = exp(-exp(-(x - loc) / scale)), the distribution function of Gumbel's distribution."""

    def __init__(self, loc=0., scale=1., validate_args=False, name="gumbel"):
        with ops.name_scope(name), ops.name_scope("init", values=[loc, scale]):
            self._loc = ops.convert_to_tensor(loc, name="loc")
            self._scale = ops.convert_to_tensor(scale, name="scale")
            check_ops.assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                check = check_ops.assert_positive(self._scale, message="Argument scale was not positive")
                self._scale = control_flow_ops.with_dependencies([check], self._scale)
        super().__init__(validate_args, name)

    @property
    def loc(self):
        """Where the distribution has its mode."""
        return self._loc

    @property
    def scale(self):
        """How wide it is."""
        return self._scale

    def _fraction(self, y):
        if not self.validate_args:
            return y
        checks = [check_ops.assert_non_negative(y, message="Inverse transformation input must be greater than 0."),
                  check_ops.assert_less_equal(y, constant_op.constant(1., y.dtype),
                                              message="Inverse transformation input must be less than or equal to 1.")]
        return control_flow_ops.with_dependencies(checks, y)

    def _forward(self, x):
        return gen.exp(-gen.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y):
        return self.loc - self.scale * gen.log(-gen.log(self._fraction(y)))

    def _inverse_log_det_jacobian(self, y):
        y = self._fraction(y)
        return gen.log(self.scale / (-gen.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self.loc) / self.scale
        return -z - gen.exp(-z) - gen.log(self.scale)


class Kumaraswamy(_Elementwise):
    """y = (1 - (1 - x) ** (1 / concentration0)) ** (1 / concentration1), from and to numbers between 0 and 1."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"):
        with ops.name_scope(name), ops.name_scope("init", values=[concentration1, concentration0]):
            values = []
            for key, value in (("concentration1", concentration1), ("concentration0", concentration0)):
                value = ops.convert_to_tensor(value, name=key)
                if validate_args:
                    check = check_ops.assert_positive(value, message="Argument %s must be positive." % key)
                    value = control_flow_ops.with_dependencies([check], value)
                values.append(value)
            self._concentration1, self._concentration0 = values
        super().__init__(validate_args, name)

    @property
    def concentration1(self):
        """The power near 0."""
        return self._concentration1

    @property
    def concentration0(self):
        """The power near 1."""
        return self._concentration0

    def _fraction(self, x):
        if not self.validate_args:
            return x
        checks = [check_ops.assert_non_negative(x, message="sample must be non-negative"),
                  check_ops.assert_less_equal(x, array_ops.ones([], self.concentration0.dtype),
                                              message="sample must be no larger than `1`.")]
        return control_flow_ops.with_dependencies(checks, x)

    def _forward(self, x):
        log_rest = gen.log1p(-self._fraction(x)) / self.concentration0
        return gen.exp(gen.log1p(-gen.exp(log_rest)) / self.concentration1)

    def _inverse(self, y):
        log_rest = gen.log1p(-self._fraction(y) ** self.concentration1)
        return gen.exp(gen.log1p(-gen.exp(log_rest * self.concentration0)))

    def _inverse_log_det_jacobian(self, y):
        y, a, b = self._fraction(y), self.concentration1, self.concentration0
        return gen.log(a) + gen.log(b) + (a - 1) * gen.log(y) + (b - 1) * gen.log1p(-y ** a)


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.sigmoid(x)

    def _inverse(self, y):
        return gen.log(y) - gen.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -gen.log(y) - gen.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -gen.softplus(-x) - gen.softplus(x)


def _hypotenuse(x):
    """sqrt(x^2 + 1), where x^2 may be beyond what can be counted."""
    small = math_ops.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.
    safe = array_ops.where_v2(small, x, array_ops.zeros_like(x))
    return array_ops.where_v2(small, math_ops.sqrt(safe ** 2. + 1.), math_ops.abs(x))


class SinhArcsinh(_Elementwise):
    """y = sinh((arcsinh(x) + skewness) * tailweight)."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with ops.name_scope(name), ops.name_scope("init", values=[skewness, tailweight]):
            self._skewness = ops.convert_to_tensor(0. if skewness is None else skewness, name="skewness")
            self._tailweight = ops.convert_to_tensor(1. if tailweight is None else tailweight, name="tailweight",
                                                     dtype=self._skewness.dtype)
            check_ops.assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                check = check_ops.assert_positive(self._tailweight, message="Argument tailweight was not positive")
                self._tailweight = control_flow_ops.with_dependencies([check], self._tailweight)
        super().__init__(validate_args, name)

    @property
    def skewness(self):
        """How far the sides differ; 0 is symmetric."""
        return self._skewness

    @property
    def tailweight(self):
        """How far out the tails go; 1 changes nothing."""
        return self._tailweight

    def _forward(self, x):
        return gen.sinh((gen.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y):
        return gen.sinh(gen.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y):
        slope = gen.cosh(gen.asinh(y) / self.tailweight - self.skewness) / _hypotenuse(y)
        return gen.log(slope) - gen.log(self.tailweight)

    def _forward_log_det_jacobian(self, x):
        slope = gen.cosh((gen.asinh(x) + self.skewness) * self.tailweight) / _hypotenuse(x)
        return gen.log(slope) + gen.log(self.tailweight)


class Softplus(_Elementwise):
    """y = hinge_softness * log(1 + exp(x / hinge_softness))."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        self._hinge_softness = None
        if hinge_softness is not None:
            with ops.name_scope(name, values=[hinge_softness]):
                self._hinge_softness = ops.convert_to_tensor(hinge_softness, name="hinge_softness")
                if validate_args:
                    check = check_ops.assert_none_equal(
                        constant_op.constant(0, self._hinge_softness.dtype), self._hinge_softness,
                        message="hinge_softness must be non-zero")
                    self._hinge_softness = control_flow_ops.with_dependencies([check], self._hinge_softness)
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self):
        """How soft the kink at 0 is; None is 1."""
        return self._hinge_softness

    def _scaled(self, function, x):
        if self.hinge_softness is None:
            return function(x)
        softness = math_ops.cast(self.hinge_softness, x.dtype)
        return softness * function(x / softness)

    def _unscaled(self, x):
        return x if self.hinge_softness is None else x / math_ops.cast(self.hinge_softness, x.dtype)

    def _forward(self, x):
        return self._scaled(gen.softplus, x)

    def _inverse(self, y):
        return self._scaled(util.softplus_inverse, y)

    def _inverse_log_det_jacobian(self, y):
        return -gen.log(-gen.expm1(-self._unscaled(y)))

    def _forward_log_det_jacobian(self, x):
        return -gen.softplus(-self._unscaled(x))


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _inside(self, y):
        if not self.validate_args:
            return y
        checks = [check_ops.assert_greater(y, constant_op.constant(-1., y.dtype),
                                           message="Inverse transformation input must be greater than -1."),
                  check_ops.assert_less(y, constant_op.constant(1., y.dtype),
                                        message="Inverse transformation input must be less than 1.")]
        return control_flow_ops.with_dependencies(checks, y)

    def _forward(self, x):
        return x / (1. + math_ops.abs(x))

    def _inverse(self, y):
        y = self._inside(y)
        return y / (1. - math_ops.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2. * gen.log1p(math_ops.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2. * gen.log1p(-math_ops.abs(self._inside(y)))


class Square(_Elementwise):
    """y = x^2 of numbers that are not negative."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _valid(self, t):
        return self._checked(t, check_ops.assert_non_negative, message="All elements must be non-negative.")

    def _forward(self, x):
        return math_ops.square(self._valid(x))

    def _inverse(self, y):
        return math_ops.sqrt(self._valid(y))

    def _forward_log_det_jacobian(self, x):
        return np.log(2.) + gen.log(self._valid(x))
