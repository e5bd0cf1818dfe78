"""Random numbers that depend on nothing but their seed argument."""
import functools

import numpy as np

from penstock._src.graph import dtypes, errors, gen, ops, tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.ops.random.algorithms import Algorithm, convert_alg_to_int
from penstock._src.ops.random.random_ops import crop_at_random, uniform_type_and_limit

__all__ = ["fold_in", "index_shuffle", "split", "stateless_categorical", "stateless_shuffle", "stateless_multinomial",
           "stateless_parameterized_truncated_normal", "stateless_random_binomial", "stateless_random_gamma",
           "stateless_random_crop", "stateless_random_poisson", "stateless_random_normal", "stateless_random_uniform",
           "stateless_truncated_normal"]



def check_algorithm(alg):
    """ValueError or InvalidArgumentError unless an algorithm (name, number or `Algorithm`) is the CPU's: Philox."""
    if alg != "auto_select":
        number = convert_alg_to_int(alg)
        if not tensor_util.is_tensor(number) and number not in (Algorithm.PHILOX.value, Algorithm.AUTO_SELECT.value):
            raise errors.InvalidArgumentError(None, None, f"Unsupported algorithm id: {number}")


def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Numbers spread evenly over [minval, maxval)."""
    check_algorithm(alg)
    if minval is None and maxval is None:
        return _any_integer(shape, seed, dtypes.as_dtype(dtype), name)
    dtype, maxval = uniform_type_and_limit(dtype, maxval)
    with ops.name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = tensor_util.shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            numbers = gen.stateless_random_uniform_int(shape, seed, minval, maxval, name=name)
        else:
            numbers = gen.stateless_random_uniform(shape, seed, dtype=dtype)
            numbers = gen.add(numbers * (maxval - minval), minval, name=name)
        return tensor_util.maybe_set_static_shape(numbers, shape)


def _any_integer(shape, seed, dtype, name):
    """Integers from all that a type has."""
    if dtype not in (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes when `minval` is None are "
                         "int32, int64, uint32 and uint64.")
    with ops.name_scope(name, "stateless_random_uniform", [shape, seed]) as name:
        shape = tensor_util.shape_tensor(shape)
        numbers = gen.stateless_random_uniform_full_int(shape, seed, dtype=dtype, name=name)
        return tensor_util.maybe_set_static_shape(numbers, shape)


def split(seed, num=2, alg="auto_select"):
    """`num` seeds from one, as rows; what they make looks independent."""
    seed = ops.convert_to_tensor(seed)
    return stateless_random_uniform([num, 2], seed, minval=None, maxval=None, dtype=seed.dtype, alg=alg)


def fold_in(seed, data, alg="auto_select"):
    """A seed from a seed and a number."""
    data = ops.convert_to_tensor(data)
    first = stateless_random_uniform([], seed, minval=None, maxval=None, dtype=data.dtype, alg=alg)
    return array_ops.stack([first, data])


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The rows of `value` in another order."""
    check_algorithm(alg)
    with ops.name_scope(name, "stateless_shuffle", [value, seed]) as name:
        key, counter = gen.stateless_random_get_key_counter(seed)
        return gen.stateless_shuffle(value, key, counter, Algorithm.PHILOX.value, name=name)


def index_shuffle(index, seed, max_index):
    """Where `index` goes in the permutation of 0 to `max_index` (inclusive) that the seed stands for.

    index, max_index: integers of one type, scalars or vectors; seed: two integers, or a row of two for each index. What
    is one serves all. InvalidArgumentError when it runs: an index is not in [0, max_index].
    """
    seed = ops.convert_to_tensor(seed)
    rank = seed.shape.rank or 1
    # The op takes three numbers; the first is TensorFlow's choice.
    seed = array_ops.pad(seed, [[0, 0]] * (rank - 1) + [[1, 0]], constant_values=498247692)
    return gen.random_index_shuffle(index, seed=seed, max_index=max_index)


def stateless_random_crop(value, size, seed, name=None):
    """A slice of the given size at a place that the seed gives."""
    draw = functools.partial(stateless_random_uniform, seed=seed)
    return crop_at_random(draw, value, size, name, "random_crop")


def _normal(op, shape, seed, mean, stddev, dtype, name):
    shape = tensor_util.shape_tensor(shape)
    mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
    return tensor_util.maybe_set_static_shape(gen.add(op(shape, seed, dtype=dtype) * stddev, mean, name=name), shape)


def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Normally distributed numbers."""
    check_algorithm(alg)
    with ops.name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as name:
        return _normal(gen.stateless_random_normal, shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
    """Normally distributed numbers, those further than two deviations from the mean drawn again."""
    check_algorithm(alg)
    with ops.name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as name:
        return _normal(gen.stateless_truncated_normal, shape, seed, mean, stddev, dtype, name)


def stateless_parameterized_truncated_normal(shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None):
    """Normally distributed numbers within limits. The parameters, floats of one type, broadcast to `shape`."""
    with ops.name_scope(name, "stateless_parameterized_truncated_normal",
                        [shape, seed, means, stddevs, minvals, maxvals]) as name:
        shape = tensor_util.shape_tensor(shape)
        means, stddevs, minvals, maxvals = (
            ops.convert_to_tensor(value, dtype=None, name=label)
            for value, label in ((means, "means"), (stddevs, "stddevs"), (minvals, "minvals"), (maxvals, "maxvals")))
        numbers = gen.stateless_parameterized_truncated_normal(shape, seed, means, stddevs, minvals, maxvals, name=name)
        return tensor_util.maybe_set_static_shape(numbers, shape)


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
        shape = tensor_util.shape_tensor(shape)
        numbers = gen.stateless_random_binomial(shape, seed, counts=counts, probs=probs, dtype=output_dtype, name=name)
        return tensor_util.maybe_set_static_shape(numbers, shape)


def stateless_random_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Samples of the Gamma distributions with `alpha` and inverse scale `beta`; `shape` ends with that of both."""
    with ops.name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]) as name:
        alpha = ops.convert_to_tensor(alpha, dtype=dtype, name="alpha")
        beta = ops.convert_to_tensor(1 if beta is None else beta, dtype=dtype, name="beta")
        together = gen.broadcast_args(gen.shape(alpha), gen.shape(beta))
        alpha = gen.broadcast_to(alpha, together)
        smallest = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        shape = tensor_util.shape_tensor(shape)
        samples = gen.stateless_random_gamma_v2(shape, seed=seed, alpha=alpha)
        samples = tensor_util.maybe_set_static_shape(samples, shape)
        return gen.maximum(ops.convert_to_tensor(smallest, alpha.dtype), samples / beta, name=name)


def stateless_random_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Samples of the Poisson distributions with these rates, with whose shape `shape` ends."""
    with ops.name_scope(name, "stateless_random_poisson", [shape, seed, lam]) as name:
        shape = tensor_util.shape_tensor(shape)
        samples = gen.stateless_random_poisson(shape, seed=seed, lam=lam, dtype=dtype, name=name)
        return tensor_util.maybe_set_static_shape(samples, shape)
