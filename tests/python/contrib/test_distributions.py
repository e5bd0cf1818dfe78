"""tf.contrib.distributions: densities against formulas, draws by their means and deviations."""
import math

import numpy as np
import pytest

import penstock.v1 as tf

tfd = tf.contrib.distributions
lgamma = np.vectorize(math.lgamma)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(value):
    with tf.Session() as sess:
        return sess.run(value)


def normal_density(x, loc, scale):
    return np.exp(-0.5 * ((x - loc) / scale) ** 2) / (scale * math.sqrt(2 * math.pi))


K, X = np.float32([0, 2, 5]), np.float32([0.3, -0.4, 1.5])


@pytest.mark.parametrize("made, x, density", [
    (lambda: tfd.Poisson([0.5, 3, 4]), K, np.exp(K * np.log([0.5, 3, 4]) - [0.5, 3, 4] - lgamma(K + 1))),
    (lambda: tfd.Geometric(probs=[0.2, 0.7, 0.5]), K, np.array([0.8, 0.3, 0.5]) ** K * [0.2, 0.7, 0.5]),
    (lambda: tfd.Binomial(8.0, probs=0.3), K, [0.7 ** 8, 28 * 0.09 * 0.7 ** 6, 56 * 0.3 ** 5 * 0.7 ** 3]),
    (lambda: tfd.Logistic([0.0, 1, 0], 2.0), X, 0.25 / 2 / np.cosh((X - [0, 1, 0]) / 4) ** 2),
    (lambda: tfd.Cauchy(0.0, [1.0, 2, 2]), X, 1 / (math.pi * np.array([1, 2, 2]) * (1 + (X / [1, 2, 2]) ** 2))),
    (lambda: tfd.HalfNormal([1.0, 1, 2]), X, 2 * normal_density(X, 0, np.array([1, 1, 2])) * (X >= 0)),
    (lambda: tfd.Chi2([1.0, 2, 3]), np.abs(X), np.abs(X) ** (np.array([1, 2, 3]) / 2 - 1) * np.exp(-np.abs(X) / 2) / (
        2 ** (np.array([1, 2, 3]) / 2) * np.exp(lgamma(np.array([1, 2, 3]) / 2)))),
    (lambda: tfd.InverseGamma([1.0, 2, 3], 2.0), np.abs(X), 2 ** np.array([1, 2, 3]) * np.abs(X) ** -np.array(
        [2.0, 3, 4]) * np.exp(-2 / np.abs(X)) / [1, 1, 2]),
    (lambda: tfd.Deterministic([0.3, 0.3, 1.4], atol=0.15), X, [1, 0, 1]),
    (lambda: tfd.MultivariateNormalDiag([1.0, -1], [[1.0, 2], [3, 4]]), [[0.0, 1], [2, 3]],
     [normal_density(0, 1, 1) * normal_density(1, -1, 2), normal_density(2, 1, 3) * normal_density(3, -1, 4)]),
    (lambda: tfd.MultivariateNormalDiag(scale_identity_multiplier=2.0, loc=[0.0, 0]), [0.0, 1],
     normal_density(0, 0, 2) * normal_density(1, 0, 2)),
    (lambda: tfd.OneHotCategorical(probs=[[0.2, 0.8], [0.5, 0.5]]), [[0, 1], [1, 0]], [0.8, 0.5]),
    (lambda: tfd.RelaxedBernoulli(0.5, logits=0.0), [0.5], [0.5]),
    (lambda: tfd.Independent(tfd.Normal([[1.0, 2], [3, 4]], 1.0)), [[0.0, 1], [2, 3]],
     [normal_density(0, 1, 1) * normal_density(1, 2, 1), normal_density(2, 3, 1) * normal_density(3, 4, 1)]),
    (lambda: tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 1], [0.1, 0.5])), [0.3],
     0.3 * normal_density(0.3, -1, 0.1) + 0.7 * normal_density(0.3, 1, 0.5))])
def test_densities(made, x, density):
    d = made()
    np.testing.assert_allclose(run(d.prob(x)), density, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(run(tf.exp(d.log_prob(x))), density, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("made, mean, stddev", [
    (lambda: tfd.Poisson([3.0]), 3, math.sqrt(3)), (lambda: tfd.Geometric(probs=[0.25]), 3, math.sqrt(12)),
    (lambda: tfd.Logistic([1.0], 1.0), 1, math.pi / math.sqrt(3)),
    (lambda: tfd.HalfNormal([2.0]), 2 * math.sqrt(2 / math.pi), 2 * math.sqrt(1 - 2 / math.pi)),
    (lambda: tfd.Chi2([3.0]), 3, math.sqrt(6)), (lambda: tfd.InverseGamma([6.0], 5.0), 1, 0.5),
    (lambda: tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([[-1.0, 1]], [0.1, 0.5])), 0.4,
     math.sqrt(0.3 * 0.01 + 0.7 * 0.25 + 0.84)),
    (lambda: tfd.MultivariateNormalDiag([1.0], [2.0]), 1, 2)])
def test_draws_have_the_mean_and_deviation(made, mean, stddev):
    d = made()
    draws = run(d.sample(20000, seed=3))
    np.testing.assert_allclose(run([d.mean(), d.stddev()]), [[mean], [stddev]], rtol=1e-5)
    assert draws.shape == (20000, 1)
    np.testing.assert_allclose([draws.mean(), draws.std()], [mean, stddev], rtol=0.05, atol=0.05)


def test_relaxed_classes():
    d = tfd.RelaxedOneHotCategorical(0.5, probs=[0.2, 0.3, 0.5])
    draws = run(d.sample(5000, seed=1))
    np.testing.assert_allclose(draws.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.bincount(draws.argmax(-1)) / 5000, [0.2, 0.3, 0.5], atol=0.03)
    x = np.float32([0.1, 0.3, 0.6])
    weights = np.array([0.2, 0.3, 0.5]) * x ** -0.5
    expected = 2 * 0.5 ** 2 * np.prod(weights / x) / weights.sum() ** 3
    np.testing.assert_allclose(run(d.prob(x)), expected, rtol=1e-5)
    logs = tfd.ExpRelaxedOneHotCategorical(0.5, probs=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(run(logs.prob(np.log(x))), expected * np.prod(x), rtol=1e-5)


def test_distances_and_shapes():
    pairs = [(tfd.OneHotCategorical([0.0, 1]), tfd.OneHotCategorical([1.0, 1]), 0.11094),
             (tfd.MultivariateNormalDiag([0.0, 1], [1.0, 2]), tfd.MultivariateNormalDiag([1.0, 1], [2.0, 2]), 0.44315),
             (tfd.Independent(tfd.Normal([0.0, 1], 1.0), 1), tfd.Independent(tfd.Normal([1.0, 1], 2.0), 1), 0.76129)]
    for a, b, expected in pairs:
        np.testing.assert_allclose(run(tfd.kl_divergence(a, b)), expected, atol=1e-5)
    batch = tfd.Independent(tfd.Normal(tf.zeros([4, 3, 2]), 1.0))
    assert batch.batch_shape == [4] and batch.event_shape == [3, 2] and batch.sample(5).shape == [5, 4, 3, 2]
    classes = tfd.OneHotCategorical(tf.zeros([4, 3]))
    assert classes.sample(5).shape == [5, 4, 3] and classes.mode().dtype == tf.int32


def test_bad_parameters():
    with pytest.raises(ValueError, match="exactly one"):
        tfd.Poisson()
    with pytest.raises(ValueError, match="undefined"):
        tfd.Cauchy(0.0, 1.0, allow_nan_stats=False).mean()
    with pytest.raises(ValueError, match="cannot exceed"):
        tfd.Independent(tfd.Normal([0.0], 1.0), 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tfd.HalfNormal(-1.0, validate_args=True).mean())


def test_an_inverse_gamma_distribution():
    d = tfd.InverseGamma([0.5, 1.5, 3.0], [1.0, 2.0, 4.0])
    mean, variance, mode, entropy, cdf = run([d.mean(), d.variance(), d.mode(), d.entropy(), d.cdf([1.0, 2.0, 3.0])])
    np.testing.assert_allclose(mean, [np.nan, 4.0, 2.0])
    np.testing.assert_allclose(variance, [np.nan, np.nan, 4.0])
    np.testing.assert_allclose(mode, [2 / 3, 0.8, 1.0], rtol=1e-6)
    np.testing.assert_allclose(entropy, [4.017631, 1.9811401, 1.3883047], rtol=1e-5)
    np.testing.assert_allclose(cdf, [0.1572992, 0.5724067, 0.8493686], rtol=1e-5)
    softplus = tfd.InverseGammaWithSoftplusConcentrationRate(0.0, 1.0)
    np.testing.assert_allclose(run([softplus.concentration, softplus.rate]), [0.6931472, 1.3132617], rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tfd.InverseGamma([0.5], [1.0], allow_nan_stats=False).mean())
