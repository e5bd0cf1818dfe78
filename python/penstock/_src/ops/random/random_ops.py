"""Random numbers whose seeds follow from the graph's seed and the number of ops made so far."""
import functools

import numpy as np

from penstock._src.graph import dtypes, gen, ops, random_seed, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops

__all__ = [
    "categorical", "multinomial", "parameterized_truncated_normal", "random_crop", "random_gamma", "random_normal",
    "random_poisson", "random_poisson_v2", "random_shuffle", "random_uniform", "truncated_normal",
]



UNIFORM_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def as_seeds(seed):
    """The two attributes of an op: 0 and 0 mean a seed that differs in each session."""
    seed1, seed2 = random_seed.get_seed(seed)
    return {"seed": seed1 or 0, "seed2": seed2 or 0}


def uniform_type_and_limit(dtype, maxval):
    """The checked type, and the upper limit, which only floating-point numbers have by themselves."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, maxval


def _normal(op, shape, mean, stddev, dtype, seed, name):
    shape = tensor_util.shape_tensor(shape)
    mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
    numbers = gen.add(op(shape, dtype, **as_seeds(seed)) * stddev, mean, name=name)
    return tensor_util.maybe_set_static_shape(numbers, shape)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed numbers.

    shape: integers, or a vector of int32 or int64; `mean` and `stddev` broadcast with it.
    dtype: float16, bfloat16, float32 or float64.
    seed: says with the graph's seed (`set_random_seed`) which numbers come.
    """
    with ops.name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        return _normal(gen.random_standard_normal, shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed numbers, those further than two deviations from the mean drawn again.

    The arguments are those of `random_normal`.
    """
    with ops.name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        return _normal(gen.truncated_normal, shape, mean, stddev, dtype, seed, name)


def parameterized_truncated_normal(shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32,
                                   seed=None, name=None):
    """Normally distributed numbers within limits; each may differ along the batch dimension."""
    with ops.name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]) as name:
        shape = tensor_util.shape_tensor(shape)
        parameters = [ops.convert_to_tensor(value, dtype=dtype, name=label)
                      for value, label in ((means, "means"), (stddevs, "stddevs"), (minvals, "minvals"),
                                           (maxvals, "maxvals"))]
        numbers = gen.parameterized_truncated_normal(shape, *parameters, **as_seeds(seed))
        return tensor_util.maybe_set_static_shape(numbers, shape)


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers spread evenly over [minval, maxval), by default [0, 1).

    dtype: a float type, or int32 or int64, which need a `maxval`: ValueError without. seed: as in `random_normal`.
    """
    dtype, maxval = uniform_type_and_limit(dtype, maxval)
    with ops.name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = tensor_util.shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        seeds = as_seeds(seed)
        if dtype.is_integer:
            numbers = gen.random_uniform_int(shape, minval, maxval, name=name, **seeds)
        else:
            numbers = gen.random_uniform(shape, dtype, **seeds)
            numbers = gen.add(numbers * (maxval - minval), minval, name=name)
        return tensor_util.maybe_set_static_shape(numbers, shape)


def random_shuffle(value, seed=None, name=None):
    """The rows of a tensor in a random order."""
    return gen.random_shuffle(value, name=name, **as_seeds(seed))


def random_crop(value, size, seed=None, name=None):
    """A slice of the given size at a random place."""
    return crop_at_random(functools.partial(random_uniform, seed=seed), value, size, name, "random_crop")


def crop_at_random(draw, value, size, name, scope):
    """`random_crop`, where `draw(shape, dtype=, maxval=)` gives numbers that are uniformly distributed."""
    with ops.name_scope(name, scope, [value, size]) as name:
        value = ops.convert_to_tensor(value, name="value")
        size = ops.convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = array_ops.shape(value)
        check = control_flow_ops.Assert(math_ops.reduce_all(shape >= size),
                                        ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = control_flow_ops.with_dependencies([check], shape)
        limit = shape - size + 1
        numbers = draw(array_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max)
        return array_ops.slice(value, numbers % limit, size, name=name)


def _draw(logits, num_samples, dtype, seed):
    logits = ops.convert_to_tensor(logits, name="logits")
    return gen.multinomial(logits, num_samples, output_dtype=dtypes.int64 if dtype is None else dtype, **as_seeds(seed))


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """For each row of logits that many classes, drawn with their probabilities."""
    with ops.name_scope(name, "multinomial", [logits]):
        return _draw(logits, num_samples, output_dtype, seed)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """For each row of logits that many classes, drawn with their probabilities."""
    with ops.name_scope(name, "categorical", [logits]):
        return _draw(logits, num_samples, dtype, seed)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from gamma distributions: `shape` of them for each alpha and rate beta."""
    with ops.name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = ops.convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = ops.convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        alpha = alpha + array_ops.zeros_like(beta)
        least = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        numbers = tensor_util.maybe_set_static_shape(gen.random_gamma(shape, alpha, **as_seeds(seed)), shape, rest=1)
        return gen.maximum(least, numbers / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from Poisson distributions: `shape` of them for each mean in `lam`."""
    return random_poisson_v2(shape, lam, dtype, seed, name)


def random_poisson_v2(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from Poisson distributions: `shape` of them for each mean in `lam`."""
    with ops.name_scope(name, "random_poisson", [lam, shape]):
        shape = ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        numbers = gen.random_poisson_v2(shape, lam, dtype=dtype, **as_seeds(seed))
        return tensor_util.maybe_set_static_shape(numbers, shape, rest=1)
