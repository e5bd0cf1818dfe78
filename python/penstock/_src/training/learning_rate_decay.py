"""tf.train.*_decay: the learning rate as a function of the global step."""
import functools

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops
from penstock._src.training import learning_rate_schedule as schedules


def _rate(schedule, step):
    """The rate at a step; in eager mode a function that gives the rate at the step's present value."""
    return functools.partial(schedule, step) if ops.executing_eagerly() else schedule(step)


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * decay_rate ^ (global_step / decay_steps); the exponent rounded down if `staircase`."""
    return _rate(
        schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase=staircase, name=name), global_step)


def piecewise_constant(x, boundaries, values, name=None):
    """values[i] for boundaries[i - 1] < x <= boundaries[i]."""
    boundaries = ops.convert_n_to_tensor(boundaries)
    values = ops.convert_n_to_tensor(values)
    kind = ops.convert_to_tensor(x).dtype.base_dtype
    for i, b in enumerate(boundaries):
        if b.dtype.base_dtype == kind:
            continue
        # Steps are int64 and bounds written as Python numbers int32; other differences are mistakes.
        if b.dtype.base_dtype != dtypes.int32 or kind != dtypes.int64:
            raise ValueError("Boundaries (%s) must have the same dtype as x (%s)." % (b.dtype.base_dtype, kind))
        boundaries[i] = math_ops.cast(b, kind)
    for v in values[1:]:
        if v.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError("Values must have elements all with the same dtype (%s vs %s)." %
                             (values[0].dtype.base_dtype, v.dtype.base_dtype))
    return _rate(schedules.PiecewiseConstantDecay(boundaries, values, name=name), x)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    """From `learning_rate` to `end_learning_rate` in `decay_steps` by a power of what is left; again if `cycle`."""
    return _rate(
        schedules.PolynomialDecay(learning_rate, decay_steps, end_learning_rate=end_learning_rate, power=power,
            cycle=cycle, name=name), global_step)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    rate = gen.exp(math_ops.negative(decay_rate))
    return _rate(
        schedules.ExponentialDecay(learning_rate, decay_steps, rate, staircase=staircase, name=name), global_step)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    return _rate(
        schedules.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase=staircase, name=name), global_step)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine from `learning_rate` to `alpha` times it."""
    return _rate(schedules.CosineDecay(learning_rate, decay_steps, alpha=alpha, name=name), global_step)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """Half cosines again and again, each `t_mul` times as long and starting `m_mul` times as high."""
    return _rate(
        schedules.CosineDecayRestarts(learning_rate, first_decay_steps, t_mul=t_mul, m_mul=m_mul, alpha=alpha,
            name=name), global_step)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """A cosine under a falling line."""
    return _rate(
        schedules.LinearCosineDecay(learning_rate, decay_steps, num_periods=num_periods, alpha=alpha, beta=beta,
            name=name), global_step)


def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55,
                              num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """A cosine under a falling line with noise that fades."""
    return _rate(
        schedules.NoisyLinearCosineDecay(learning_rate, decay_steps, initial_variance=initial_variance,
            variance_decay=variance_decay, num_periods=num_periods, alpha=alpha, beta=beta, name=name), global_step)


piecewise_constant_decay = piecewise_constant
