"""Random samplers that choose a method by their parameters: samples on both sides of each border follow the
distribution (Kolmogorov and Smirnov's test), and do not depend on threads."""
import math

import numpy as np
import penstock.v2 as tf
from branch_testing import branches

N = 20000
erf = np.vectorize(math.erf, [float])
lgamma = np.vectorize(math.lgamma, [float])


def check(case, sample, cdf, what):
    """cdf(x): the probability of a value up to x, which must be a function of arrays."""
    sample = sample.numpy()
    case.check(sample, sample.copy(), what, 0, 0)
    x, counts = np.unique(sample.astype(np.float64), return_counts=True)
    found = np.cumsum(counts) / sample.size
    apart = np.abs(found - cdf(x)).max()
    assert apart < 2.2 / math.sqrt(sample.size), f"{what}: {apart} from its distribution"


def gamma_cdf(alpha, x):
    term = total = np.ones_like(x)
    for n in range(1, 400):
        term = term * x / (alpha + n)
        total = total + term
    with np.errstate(divide="ignore"):
        return np.where(x > 0, np.exp(alpha * np.log(x) - x - math.lgamma(alpha + 1)) * total, 0)


@branches("random/gamma")
def test_gamma(case):
    for dtype in (tf.float32, tf.float64):
        for alpha in (0.05, 0.5, 0.999, 1.0, 1.001, 2.5, 30.0):
            sample = tf.random.stateless_gamma([N], [int(alpha * 100), 3], alpha, dtype=dtype)
            if alpha > 0.1:  # Smaller ones end at the least number.
                check(case, sample, lambda x: gamma_cdf(alpha, x), f"{dtype} {alpha}")
            mixed = tf.random.stateless_gamma([3, 4], [1, 2], tf.constant([alpha, 1, 2, 0.5], dtype), dtype=dtype)
            case.check(mixed, mixed.numpy().copy(), f"{dtype} {alpha}", 0, 0)


@branches("random/poisson")
def test_poisson(case):
    for rate in (0.1, 5.0, 9.99, 10.0, 10.01, 50.0, 300.0):
        each = np.arange(2000.0)
        chances = np.cumsum(np.exp(each * math.log(rate) - rate - lgamma(each + 1)))
        for dtype in (tf.int32, tf.float32, tf.float64):
            sample = tf.random.stateless_poisson([N], [int(rate), 5], rate, dtype)
            check(case, sample, lambda x: chances[x.astype(int)], f"{dtype} {rate}")


@branches("random/binomial")
def test_binomial(case):
    for count, chance in [(1, 0.5), (20, 0.49), (20, 0.5), (20, 0.501), (21, 0.48), (100, 0.099), (100, 0.1),
                          (100, 0.101), (100, 0.899), (100, 0.901), (1000, 0.003), (1000, 0.7), (30, 0.999)]:
        each = np.arange(count + 1.0)
        ways = math.lgamma(count + 1) - lgamma(each + 1) - lgamma(count - each + 1)
        chances = np.cumsum(np.exp(ways + each * math.log(chance) + (count - each) * math.log1p(-chance)))
        for dtype in (tf.int32, tf.float32):
            sample = tf.random.stateless_binomial([N], [count, 7], float(count), chance, dtype)
            check(case, sample, lambda x: chances[x.astype(int)], f"{dtype} {count} {chance}")


@branches("truncated_normal/draw")
def test_truncated_normal(case):
    below = lambda z: 0.5 * (1 + erf(z / math.sqrt(2)))
    for low, high in [(-2, 2), (-1.31, 0), (-1.29, 0), (0, 1.31), (0, 1.29), (-0.5, 0.5), (0.5, 0.6), (1, 4),
                      (2, math.inf), (-math.inf, -1), (-math.inf, 0.5), (3, 3.2), (0.1, 9)]:
        for dtype in (tf.float32, tf.float64):
            for mean, deviation in [(0, 1), (5, 0.5)]:
                a, b = mean + deviation * low, mean + deviation * high
                sample = tf.random.stateless_parameterized_truncated_normal(
                    [N], [9, int(10 * max(low, -9))], *(tf.constant(v, dtype) for v in (mean, deviation, a, b)))
                first, last = below(float(low)), below(float(high))
                check(case, sample, lambda x: (below((x - mean) / deviation) - first) / (last - first),
                      f"{dtype} {low} {high} {mean}")


@branches("random/shuffle")
def test_shuffle(case):
    """Values and rows are moved alike, and to each place equally often."""
    shuffle = tf.random.experimental.stateless_shuffle
    for n in (0, 1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 66, 1000):
        order = shuffle(tf.range(n), [n, 1]).numpy()
        case.check(np.sort(order), np.arange(n), f"{n}", 0, 0)
        for dtype in (np.float32, np.float64, np.uint8, np.complex128):
            values = case.random.integers(0, 100, n).astype(dtype)
            case.check(shuffle(tf.constant(values), [n, 1]), values[order], f"{dtype} {n}", 0, 0)
            rows = case.random.integers(0, 100, (n, 3)).astype(dtype)
            case.check(shuffle(tf.constant(rows), [n, 1]), rows[order], f"{dtype} {n} rows", 0, 0)
        words = np.array([b"%d" % i for i in range(n)] + [None], object)[:-1]
        found = shuffle(tf.constant(words, tf.string), [n, 1]).numpy()
        assert list(found) == list(words[order]), n
    for dtype in (tf.int32, tf.int64):
        firsts = np.zeros((4, 4), int)
        for seed in range(800):
            firsts[np.arange(4), shuffle(tf.range(4, dtype=dtype), [seed, 11]).numpy()] += 1
        assert abs(firsts - 200).max() < 5 * math.sqrt(200 * 0.75), firsts
