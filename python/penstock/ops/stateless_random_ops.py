"""Random numbers that depend on nothing but their seed argument."""
import numpy as np

from penstock.framework import dtypes, gen, ops, tensor_util
from penstock.ops.arguments import made_function
from penstock.ops.random_ops import uniform_type_and_limit

__all__ = ["stateless_categorical", "stateless_multinomial", "stateless_random_binomial", "stateless_random_gamma",
           "stateless_random_poisson", "stateless_random_normal", "stateless_random_uniform",
           "stateless_truncated_normal"]

__getattr__ = made_function(__name__)


def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    """Numbers spread evenly over [minval, maxval)."""
    dtype, maxval = uniform_type_and_limit(dtype, maxval)
    with ops.name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = tensor_util.shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return gen.stateless_random_uniform_int(shape, seed, minval, maxval, name=name)
        numbers = gen.stateless_random_uniform(shape, seed, dtype=dtype)
        return gen.add(numbers * (maxval - minval), minval, name=name)


def _normal(op, shape, seed, mean, stddev, dtype, name):
    shape = tensor_util.shape_tensor(shape)
    mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
    return gen.add(op(shape, seed, dtype=dtype) * stddev, mean, name=name)


def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Normally distributed numbers."""
    with ops.name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as name:
        return _normal(gen.stateless_random_normal, shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Normally distributed numbers, those further than two deviations from the mean drawn again."""
    with ops.name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as name:
        return _normal(gen.stateless_truncated_normal, shape, seed, mean, stddev, dtype, name)


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """For each row of logits that many classes, drawn with their probabilities."""
    with ops.name_scope(name, "stateless_multinomial", [logits, seed]):
        logits = ops.convert_to_tensor(logits, name="logits")
        return gen.stateless_multinomial(logits, num_samples, seed, output_dtype=output_dtype)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """For each row of logits that many classes, drawn with their probabilities."""
    with ops.name_scope(name, "stateless_categorical", [logits, seed]):
        logits = ops.convert_to_tensor(logits, name="logits")
        return gen.stateless_multinomial(logits, num_samples, seed, output_dtype=dtype)


def stateless_random_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Samples of binomial distributions; `shape` ends with that of `counts` and `probs` together."""
    with ops.name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]) as name:
        probs = ops.convert_to_tensor(probs, dtype_hint=dtypes.float32, name="probs")
        counts = gen.cast(ops.convert_to_tensor(counts, name="counts"), DstT=probs.dtype)
        return gen.stateless_random_binomial(tensor_util.shape_tensor(shape), seed, counts=counts, probs=probs,
                                             dtype=output_dtype, name=name)


def stateless_random_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Samples of the Gamma distributions with `alpha` and inverse scale `beta`; `shape` ends with that of both."""
    with ops.name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]) as name:
        alpha = ops.convert_to_tensor(alpha, dtype=dtype, name="alpha")
        beta = ops.convert_to_tensor(1 if beta is None else beta, dtype=dtype, name="beta")
        together = gen.broadcast_args(gen.shape(alpha), gen.shape(beta))
        alpha = gen.broadcast_to(alpha, together)
        smallest = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        samples = gen.stateless_random_gamma_v2(tensor_util.shape_tensor(shape), seed=seed, alpha=alpha)
        return gen.maximum(ops.convert_to_tensor(smallest, alpha.dtype), samples / beta, name=name)


def stateless_random_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Samples of the Poisson distributions with these rates, with whose shape `shape` ends."""
    with ops.name_scope(name, "stateless_random_poisson", [shape, seed, lam]) as name:
        return gen.stateless_random_poisson(tensor_util.shape_tensor(shape), seed=seed, lam=lam, dtype=dtype, name=name)
