"""What goes with distributions: statistics of samples and of what passes by, posteriors, seeds, matrices."""
import hashlib

import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, clip_ops, math_ops, sort_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.state import init_ops, state_ops, variable_scope
from penstock._src.ops.distributions import normal

__all__ = ["SeedStream", "assign_log_moving_mean_exp", "assign_moving_mean_variance", "moving_mean_variance",
           "normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive", "percentile",
           "tridiag"]


class SeedStream:
    """One seed as many: each call gives another number, of the seed, the count of calls and a word."""

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self):
        """The next seed; None if there is none."""
        self._counter += 1
        if self._seed is None:
            return None
        return int(hashlib.sha512(str((self._seed, self._counter, self._salt)).encode("utf-8")).hexdigest(), 16)

    @property
    def original_seed(self):
        """The seed that it was made of."""
        return self._seed

    @property
    def salt(self):
        """The word."""
        return self._salt


def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """(mean_var, variance_var), moved towards a value by 1 - decay. TypeError for integers and for two types."""
    with ops.name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("mean_var.base_dtype(%s) does not have float type `dtype`." % dtype.name)
        if dtype != variance_var.dtype.base_dtype:
            raise TypeError("mean_var.base_dtype(%s) != variance_var.base_dtype(%s)" %
                            (dtype.name, variance_var.dtype.base_dtype.name))
        with ops.colocate_with(variance_var), ops.colocate_with(mean_var):
            value = ops.convert_to_tensor(value, dtype=dtype, name="value")
            decay = ops.convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = value - mean_var
            with ops.control_dependencies([delta]):
                mean = state_ops.assign_add(mean_var, (1. - decay) * delta)
                variance = state_ops.assign_sub(
                    variance_var, (1. - decay) * (variance_var - decay * math_ops.square(delta)))
            return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """The logarithm of a moving mean of exp(log_value), kept in a variable. TypeError for integers."""
    with ops.name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        dtype = log_mean_exp_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("log_mean_exp_var.base_dtype(%s) does not have float type `dtype`." % dtype.name)
        with ops.colocate_with(log_mean_exp_var):
            log_value = ops.convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = ops.convert_to_tensor(decay, dtype=dtype, name="decay")
            delta = log_value - log_mean_exp_var
            terms = array_ops.stack([gen.log(decay) * array_ops.ones_like(delta), delta + gen.log1p(-decay)])
            return log_mean_exp_var.assign_add(math_ops.reduce_logsumexp(terms, axis=0))


def moving_mean_variance(value, decay, collections=None, name=None):
    """(mean, variance) of the values that pass by, the later ones with more weight, in variables. TypeError for
    integers."""
    collections = [ops.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = ops.convert_to_tensor(value, name="value")
        if not value.dtype.base_dtype.is_floating:
            raise TypeError("value.base_dtype(%s) does not have float type `dtype`." % value.dtype.base_dtype.name)
        decay = ops.convert_to_tensor(decay, dtype=value.dtype.base_dtype, name="decay")
        variance, mean = [
            variable_scope.get_variable(key, shape=value.shape, dtype=value.dtype, trainable=False,
                                        initializer=init_ops.zeros_initializer(), collections=collections)
            for key in ("moving_variance", "moving_mean")]
        return assign_moving_mean_variance(mean, variance, value, decay)


def _posterior(prior, scale, s, n):
    """(mean, variance) of the mean of normal numbers of a known scale, of which n have the sum s."""
    if not isinstance(prior, normal.Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError("Observation sum s.dtype does not match prior dtype: %s vs. %s" % (s.dtype, prior.dtype))
    n = math_ops.cast(n, prior.dtype)
    before, one = math_ops.square(prior.scale), math_ops.square(scale)
    variance = 1. / (1. / before + n / one)
    return (prior.loc / before + s / one) * variance, variance


def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """What is known of the mean of normal numbers of scale `scale` when n of them have the sum s, a Normal as before.

    TypeError for another prior, or another type of s.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return normal.Normal(loc=mean, scale=math_ops.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """What is known of the next number when n of them have the sum s, a Normal.

    TypeError for another prior, or another type of s.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return normal.Normal(loc=mean, scale=math_ops.sqrt(variance + math_ops.square(scale)))


def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """The number that q percent of x are not above, along some axes, or all: one of x, by `interpolation` ("lower",
    "higher" or "nearest"). ValueError for other words, and axes that are not known."""
    interpolation = "nearest" if interpolation is None else interpolation
    pick = {"lower": gen.ceil, "higher": gen.floor, "nearest": math_ops.round}
    if interpolation not in pick:
        raise ValueError("Argument 'interpolation' must be in %s.  Found %s" % (set(pick), interpolation))
    with ops.name_scope(name or "percentile", values=[x, q]):
        x = ops.convert_to_tensor(x, name="x")
        q = math_ops.cast(q, dtypes.float64, name="q")
        if validate_args:
            q = control_flow_ops.with_dependencies([
                check_ops.assert_rank(q, 0), check_ops.assert_greater_equal(q, math_ops.cast(0., q.dtype)),
                check_ops.assert_less_equal(q, math_ops.cast(100., q.dtype))], q)
        if axis is None:
            y, axes = array_ops.reshape(x, [-1]), None
        else:
            known = tensor_util.constant_value(ops.convert_to_tensor(axis, name="axis"))
            if known is None:
                raise ValueError("Expected argument 'axis' to be statically available.  Found: %s" % axis)
            axes = sorted(int(a) % x.shape.ndims for a in np.reshape(known, [-1]))
            rest = [a for a in range(x.shape.ndims) if a not in axes]
            y = array_ops.transpose(x, rest + axes)
            y = array_ops.reshape(y, array_ops.concat([array_ops.shape(y)[:len(rest)], [-1]], 0))
        count = array_ops.shape(y)[-1]
        place = pick[interpolation]((math_ops.cast(count, q.dtype) - 1) * (1. - q / 100.))
        place = clip_ops.clip_by_value(math_ops.cast(place, dtypes.int32), 0, count - 1)
        result = sort_ops.sort(y, direction="DESCENDING")[..., place]
        if keep_dims:
            for a in axes if axes is not None else range(x.shape.ndims):
                result = array_ops.expand_dims(result, a)
        return result


def tridiag(below=None, diag=None, above=None, name=None):
    """Matrices with a diagonal and what is beside it, each [..., n] or, beside it, [..., n - 1]; None is 0."""
    with ops.name_scope(name, "tridiag", [below, diag, above]):
        total = None
        for part, pads in ((below, [[1, 0], [0, 1]]), (diag, None), (above, [[0, 1], [1, 0]])):
            if part is None:
                continue
            matrix = array_ops.matrix_diag(ops.convert_to_tensor(part))
            if pads is not None:
                matrix = array_ops.pad(matrix, [[0, 0]] * (matrix.shape.ndims - 2) + pads)
            total = matrix if total is None else total + matrix
        if total is None:
            raise ValueError("Must specify at least one of {below, diag, above}.")
        return total
