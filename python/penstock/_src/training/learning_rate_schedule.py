"""Learning-rate schedules as objects: called with the step, they add the nodes that compute the rate."""
import math

from penstock._src.graph import constant_op
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops


class LearningRateSchedule(object):
    """Base of the schedules. `_config` names the constructor's arguments, `_attributes()` attributes that differ."""

    _config = ()
    _scope = None

    def _keep(self, arguments):
        """Stores the constructor's arguments, found among its local variables, as attributes."""
        for argument in self._config:
            setattr(self, self._attributes().get(argument, argument), arguments[argument])

    def __call__(self, step):
        """The learning rate at `step`, a number or a tensor."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self):
        """The arguments of the constructor."""
        return {argument: getattr(self, self._attributes().get(argument, argument)) for argument in self._config}

    def _attributes(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _named(self):
        return ops.name_scope_v2(self.name or self._scope)

    def _start(self, *numbers):
        """The initial rate as a tensor, and the numbers in its type."""
        rate = ops.convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
        return [rate] + [math_ops.cast(number, rate.dtype) for number in numbers]


class ExponentialDecay(LearningRateSchedule):
    """initial * decay_rate ^ (step / decay_steps)."""
    _config = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")
    _scope = "ExponentialDecay"

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self._keep(locals())

    def __call__(self, step):
        with self._named() as name:
            rate, decay_steps, decay_rate, step = self._start(self.decay_steps, self.decay_rate, step)
            passed = step / decay_steps
            if self.staircase:
                passed = gen.floor(passed)
            return math_ops.multiply(rate, math_ops.pow(decay_rate, passed), name=name)


class InverseTimeDecay(ExponentialDecay):
    """initial / (1 + decay_rate * step / decay_steps)."""
    _scope = "InverseTimeDecay"

    def __call__(self, step):
        with self._named() as name:
            rate, decay_steps, decay_rate, step = self._start(self.decay_steps, self.decay_rate, step)
            passed = step / decay_steps
            if self.staircase:
                passed = gen.floor(passed)
            one = math_ops.cast(constant_op.constant(1), rate.dtype)
            return math_ops.divide(rate, math_ops.add(one, math_ops.multiply(decay_rate, passed)), name=name)


class PiecewiseConstantDecay(LearningRateSchedule):
    """values[i] for boundaries[i - 1] < step <= boundaries[i]."""
    _config = ("boundaries", "values", "name")
    _scope = "PiecewiseConstant"

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self._keep(locals())

    def __call__(self, step):
        with self._named():
            bounds = ops.convert_n_to_tensor(self.boundaries)
            values = ops.convert_n_to_tensor(self.values)
            x = ops.convert_to_tensor(step)
            bounds = [b if b.dtype.base_dtype == x.dtype.base_dtype else math_ops.cast(b, x.dtype.base_dtype)
                      for b in bounds]
            cases = [(x <= bounds[0], lambda: values[0]), (x > bounds[-1], lambda: values[-1])]
            for low, high, value in zip(bounds[:-1], bounds[1:], values[1:-1]):
                cases.append(((x > low) & (x <= high), lambda value=value: value))
            return cond_lib.case(cases, lambda: values[0], exclusive=True)


class PolynomialDecay(LearningRateSchedule):
    """From the initial rate to `end_learning_rate` by a power of the part that is left."""
    _config = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")
    _scope = "PolynomialDecay"

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self._keep(locals())

    def __call__(self, step):
        with self._named() as name:
            rate, end, power, step, decay_steps = self._start(
                self.end_learning_rate, self.power, step, self.decay_steps)
            if self.cycle:
                # The first multiple of decay_steps that has not been passed.
                times = cond_lib.cond(math_ops.equal(step, 0), lambda: 1.0,
                                      lambda: gen.ceil(step / self.decay_steps))
                decay_steps = math_ops.multiply(decay_steps, times)
            else:
                step = gen.minimum(step, self.decay_steps)
            passed = math_ops.divide(step, decay_steps)
            return math_ops.add(math_ops.multiply(rate - end, math_ops.pow(1 - passed, power)), end, name=name)


class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate to `alpha` times it."""
    _config = ("initial_learning_rate", "decay_steps", "alpha", "name")
    _scope = "CosineDecay"

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name=None):
        self._keep(locals())

    def __call__(self, step):
        with self._named():
            rate, decay_steps, step = self._start(self.decay_steps, step)
            passed = gen.minimum(step, decay_steps) / decay_steps
            cosine = 0.5 * (1.0 + gen.cos(constant_op.constant(math.pi) * passed))
            return math_ops.multiply(rate, (1 - self.alpha) * cosine + self.alpha)


class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after the other, each `t_mul` times as long and `m_mul` times as high as the last."""
    _config = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")
    _scope = "SGDRDecay"

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
        self._keep(locals())

    def _attributes(self):
        return {"t_mul": "_t_mul", "m_mul": "_m_mul"}

    def __call__(self, step):
        with self._named() as name:
            rate, first, alpha, t_mul, m_mul, step = self._start(
                self.first_decay_steps, self.alpha, self._t_mul, self._m_mul, step)
            passed = step / first

            def of_equal_length():
                restarts = gen.floor(passed)
                return restarts, passed - restarts

            def of_growing_length():
                # The lengths are a geometric series.
                restarts = gen.floor(gen.log(1.0 - passed * (1.0 - t_mul)) / gen.log(t_mul))
                before = (1.0 - t_mul ** restarts) / (1.0 - t_mul)
                return restarts, (passed - before) / t_mul ** restarts

            restarts, fraction = cond_lib.cond(math_ops.equal(t_mul, 1.0), of_equal_length, of_growing_length)
            cosine = 0.5 * (m_mul ** restarts) * (1.0 + gen.cos(constant_op.constant(math.pi) * fraction))
            return math_ops.multiply(rate, (1 - alpha) * cosine + alpha, name=name)


class LinearCosineDecay(LearningRateSchedule):
    """A cosine of `num_periods` periods under a falling line."""
    _config = ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")
    _scope = "LinearCosineDecay"

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
        self._keep(locals())

    def __call__(self, step):
        with self._named() as name:
            rate, decay_steps, num_periods, alpha, beta, step = self._start(
                self.decay_steps, self.num_periods, self.alpha, self.beta, step)
            step = gen.minimum(step, decay_steps)
            line = (decay_steps - step) / decay_steps
            fraction = 2.0 * num_periods * (step / decay_steps)
            cosine = 0.5 * (1.0 + gen.cos(constant_op.constant(math.pi) * fraction))
            return math_ops.multiply(rate, (alpha + line) * cosine + beta, name=name)


class NoisyLinearCosineDecay(LearningRateSchedule):
    """LinearCosineDecay with normal noise whose variance falls with a power of the step."""
    _config = ("initial_learning_rate", "decay_steps", "initial_variance", "variance_decay", "num_periods", "alpha",
               "beta", "name")
    _scope = "NoisyLinearCosineDecay"

    def __init__(self, initial_learning_rate, decay_steps, initial_variance=1.0, variance_decay=0.55, num_periods=0.5,
                 alpha=0.0, beta=0.001, name=None):
        self._keep(locals())

    def __call__(self, step):
        with self._named() as name:
            rate, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta, step = self._start(
                self.decay_steps, self.initial_variance, self.variance_decay, self.num_periods, self.alpha, self.beta,
                step)
            step = gen.minimum(step, decay_steps)
            line = (decay_steps - step) / decay_steps
            stddev = math_ops.sqrt(initial_variance / math_ops.pow(1.0 + step, variance_decay))
            line = line + random_ops.random_normal(line.shape, stddev=stddev)
            fraction = 2.0 * num_periods * (step / decay_steps)
            cosine = 0.5 * (1.0 + gen.cos(constant_op.constant(math.pi) * fraction))
            return math_ops.multiply(rate, (alpha + line) * cosine + beta, name=name)
