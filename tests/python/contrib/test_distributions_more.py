"""tf.contrib.distributions: what is made of other distributions, vectors with a scale, matrices, statistics."""
import math

import numpy as np
import pytest

import penstock.v1 as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors
LOC = np.array([1., -2., 0.5])
TRIL = np.array([[2., 0., 0.], [0.5, 1.5, 0.], [-0.3, 0.8, 1.2]])
COVARIANCE = TRIL @ TRIL.T
X = np.array([[0., 1., 2.], [1., -1., 0.]])
DIAG = np.array([1., 2., 3.])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(list(fetches))
    return values[0] if len(values) == 1 else values


def log_normal(x, loc, covariance):
    d = x - loc
    return -0.5 * (np.einsum("...i,ij,...j", d, np.linalg.inv(covariance), d) +
                   np.linalg.slogdet(2 * math.pi * covariance)[1])


FACTOR = np.array([[1.], [0.5], [-1.]])
LOW_RANK = np.diag([1., 2., 3.]) + 2 * FACTOR @ FACTOR.T


@pytest.mark.parametrize("make, covariance", [
    (lambda: tfd.MultivariateNormalTriL(LOC, TRIL), COVARIANCE),
    (lambda: tfd.MultivariateNormalTriL(LOC), np.eye(3)),
    (lambda: tfd.MultivariateNormalFullCovariance(LOC, COVARIANCE), COVARIANCE),
    (lambda: tfd.MultivariateNormalDiagPlusLowRank(LOC, np.array([1., 2., 3.]), scale_perturb_factor=FACTOR,
                                                   scale_perturb_diag=np.array([2.])), LOW_RANK @ LOW_RANK)])
def test_normal_vectors(make, covariance):
    d = make()
    assert d.event_shape == [3] and d.batch_shape == []
    got, mean, got_covariance, variance, stddev, entropy, draws = run(
        d.log_prob(X), d.mean(), d.covariance(), d.variance(), d.stddev(), d.entropy(), d.sample(20000, seed=3))
    np.testing.assert_allclose(got, log_normal(X, LOC, covariance))
    np.testing.assert_allclose(mean, LOC)
    np.testing.assert_allclose(got_covariance, covariance, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(covariance))
    np.testing.assert_allclose(stddev, np.sqrt(np.diag(covariance)))
    np.testing.assert_allclose(entropy, 0.5 * np.linalg.slogdet(2 * math.pi * math.e * covariance)[1])
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.03 * np.max(covariance))
    other = tfd.MultivariateNormalDiag(LOC + 1, np.ones(3))
    inverse = np.linalg.inv(covariance)
    expected = [0.5 * (np.trace(covariance) + 3 - 3 - np.linalg.slogdet(covariance)[1]),
                0.5 * (np.trace(inverse) + inverse.sum() - 3 + np.linalg.slogdet(covariance)[1])]
    np.testing.assert_allclose(run(d.kl_divergence(other), other.kl_divergence(d)), expected)


def test_batches_of_vectors():
    scales = np.stack([TRIL, 2 * TRIL])
    d = tfd.MultivariateNormalTriL(X, scales)
    assert d.batch_shape == [2] and d.sample([5, 4]).shape == [5, 4, 2, 3]
    expected = [log_normal(np.zeros(3), X[i], scales[i] @ scales[i].T) for i in range(2)]
    np.testing.assert_allclose(run(d.log_prob(np.zeros([7, 1, 3]))), [expected] * 7)
    unknown = tf.placeholder_with_default(X, [None, 3])
    d = tfd.MultivariateNormalTriL(unknown, scales)
    np.testing.assert_allclose(run(d.log_prob(np.zeros(3))), expected)
    soft = tfd.MultivariateNormalDiagWithSoftplusScale(LOC, np.ones(3))
    np.testing.assert_allclose(run(soft.stddev()), np.log1p(np.exp(np.ones(3))))


def test_transformed():
    d = tfd.TransformedDistribution(tfd.Normal(0.5, 2.), tfb.Exp(), name="LogNormal")
    x = np.float32([0.5, 3.])
    log = -0.5 * ((np.log(x) - 0.5) / 2) ** 2 - np.log(2 * x * math.sqrt(2 * math.pi))
    got = run(d.log_prob(x), d.cdf(x) + d.survival_function(x), d.quantile(d.cdf(x)), d.prob(x))
    for value, expected in zip(got, (log, 1, x, np.exp(log))):
        np.testing.assert_allclose(value, expected + np.zeros(2), rtol=1e-5)
    y = d.sample([3], seed=1)
    x = d.bijector.inverse(y)  # what the draws were made of, not computed again
    assert x.op.type == "Reshape"
    with pytest.raises(NotImplementedError):
        d.entropy()
    # A batch as it is, and events drawn from it.
    d = tfd.TransformedDistribution(tfd.Normal([0., 10.], 1.), tfb.Affine(scale_tril=np.float32(TRIL)), event_shape=[3])
    assert d.batch_shape == [2] and d.event_shape == [3]
    draws, log, entropy = run(d.sample(2000, seed=3), d.log_prob(np.float32(X)), d.entropy())
    np.testing.assert_allclose(draws.mean(0), TRIL @ np.ones(3) * [[0], [10]], atol=0.3)
    means = np.stack([np.zeros(3), TRIL @ np.full(3, 10.)])
    np.testing.assert_allclose(log, log_normal(X, means, COVARIANCE), rtol=1e-4)
    np.testing.assert_allclose(entropy, [0.5 * np.linalg.slogdet(2 * math.pi * math.e * COVARIANCE)[1]] * 2, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="when overriding event_shape"):
        d.cdf(X)
    with pytest.raises(ValueError, match="not scalar"):
        tfd.TransformedDistribution(tfd.Normal([0., 1.], 1.), tfb.Exp(), batch_shape=[2])


def test_scaled_vectors():
    d = tfd.VectorLaplaceDiag(LOC, scale_diag=DIAG)
    got = run(d.log_prob(X), d.stddev(), d.mean())
    np.testing.assert_allclose(got[0], (-abs((X - LOC) / [1, 2, 3]) - np.log([2, 4, 6])).sum(-1))
    np.testing.assert_allclose(got[1], math.sqrt(2) * np.array([1, 2, 3]))
    np.testing.assert_allclose(got[2], LOC)
    d = tfd.VectorExponentialDiag(LOC, scale_diag=DIAG)
    got = run(d.log_prob(LOC + 1), d.mean(), d.mode(), d.variance())
    for value, expected in zip(got, (-(1 + 1 / 2 + 1 / 3) - math.log(6), LOC + [1, 2, 3], LOC, [1, 4, 9])):
        np.testing.assert_allclose(value, expected)
    # Without skewness and with usual tails these are normal numbers.
    d = tfd.VectorSinhArcsinhDiag(LOC, scale_diag=DIAG)
    np.testing.assert_allclose(run(d.log_prob(X)), log_normal(X, LOC, np.diag([1., 4., 9.])))
    d = tfd.SinhArcsinh(1., 2., skewness=0.3, tailweight=1.2)
    z = (np.arcsinh((3. - 1) / (4 / np.sinh(np.arcsinh(2) * 1.2))) / 1.2 - 0.3)
    np.testing.assert_allclose(run(d.cdf(3.)), 0.5 * math.erfc(-np.sinh(z) / math.sqrt(2)), rtol=1e-5)
    d = tfd.Kumaraswamy([2., 3.], 1.5)
    got = run(d.cdf(0.4), d.mean(), d.prob(0.4))
    a, b = np.array([2., 3.]), 1.5
    beta = [math.gamma(1 + 1 / i) * math.gamma(b) / math.gamma(1 + 1 / i + b) for i in a]
    for value, expected in zip(got, (1 - (1 - 0.4 ** a) ** b, b * np.array(beta),
                                     a * b * 0.4 ** (a - 1) * (1 - 0.4 ** a) ** (b - 1))):
        np.testing.assert_allclose(value, expected, rtol=1e-5)


@pytest.mark.parametrize("static", [False, True])
def test_mixture(static):
    cat = tfd.Categorical(probs=[[0.3, 0.7], [1.0, 0.0]])
    d = tfd.Mixture(cat, [tfd.Normal([0., 5.], 1.), tfd.Normal([3., 0.], 0.5)], use_static_graph=static)
    density = lambda x, m, s: np.exp(-0.5 * ((x - m) / s) ** 2) / (s * math.sqrt(2 * math.pi))  # noqa: E731
    prob, mean, stddev, draws, bound = run(
        d.prob([1., 4.]), d.mean(), d.stddev(), d.sample(4000, seed=5), d.entropy_lower_bound())
    np.testing.assert_allclose(prob, [0.3 * density(1, 0, 1) + 0.7 * density(1, 3, 0.5), density(4, 5, 1)], rtol=1e-5)
    np.testing.assert_allclose(mean, [2.1, 5.], rtol=1e-6)
    expected = [math.sqrt(0.3 * (1 + 2.1 ** 2) + 0.7 * (0.25 + 0.9 ** 2)), 1.]
    np.testing.assert_allclose(stddev, expected, rtol=1e-5)
    np.testing.assert_allclose([draws.mean(0), draws.std(0)], [mean, expected], atol=0.1)
    entropy = 0.5 * np.log(2 * math.pi * math.e * np.array([1, 0.25]))
    np.testing.assert_allclose(bound, [0.3 * entropy[0] + 0.7 * entropy[1], entropy[0]], rtol=1e-5)
    with pytest.raises(ValueError, match="num_classes"):
        tfd.Mixture(cat, [tfd.Normal([0., 5.], 1.)])


@pytest.mark.parametrize("cholesky", [False, True])
def test_wishart(cholesky):
    by_root = tfd.WishartCholesky(5., TRIL, cholesky_input_output_matrices=cholesky)
    full = tfd.WishartFull(5., COVARIANCE, cholesky_input_output_matrices=cholesky)
    at = 1.5 * (TRIL if cholesky else COVARIANCE)
    matrix = at @ at.T if cholesky else at
    gammas = math.log(math.pi) * 1.5 + sum(math.lgamma(2.5 - i / 2) for i in range(3))
    expected = (0.5 * (5 - 3 - 1) * np.linalg.slogdet(matrix)[1] - 0.5 * np.trace(np.linalg.solve(COVARIANCE, matrix)) -
                7.5 * math.log(2) - 2.5 * np.linalg.slogdet(COVARIANCE)[1] - gammas)
    np.testing.assert_allclose(run(by_root.log_prob(at), full.log_prob(at)), [expected] * 2)
    draws = run(by_root.sample(4000, seed=2))
    matrices = draws @ np.swapaxes(draws, -1, -2) if cholesky else draws
    np.testing.assert_allclose(matrices.mean(0), 5 * COVARIANCE, atol=1.)
    np.testing.assert_allclose(run(full.mean_log_det()), np.linalg.slogdet(matrices)[1].mean(), atol=0.1)
    assert full.event_shape == [3, 3]
    with pytest.raises(ValueError, match="Degrees of freedom"):
        tfd.WishartFull(2., COVARIANCE)


def test_quantized_and_reshaped():
    normal = tfd.Normal([1., 2.], 2.)
    d = tfd.QuantizedDistribution(normal, low=-2., high=5.)
    cdf = lambda x: 0.5 * math.erfc(-(x - 2) / 2 / math.sqrt(2))  # noqa: E731
    x = np.float32([[0., -2.], [0., 3.], [0., 5.], [0., 6.]])
    got = run(d.prob(x), d.log_prob(x[:3]), d.cdf(x))
    expected = [cdf(-2), cdf(3) - cdf(2), 1 - cdf(4), 0]
    np.testing.assert_allclose(got[0][:, 1], expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.exp(got[1][:, 1]), expected[:3], rtol=1e-4)
    np.testing.assert_allclose(got[2][:, 1], [cdf(-2), cdf(3), 1, 1], rtol=1e-5)
    assert set(run(d.sample(300, seed=1)).ravel()) <= set(range(-2, 6))
    d = tfd.BatchReshape(tfd.Normal(np.arange(6, dtype=np.float32), 1.), [2, -1])
    assert d.batch_shape == [2, 3] and d.sample(4).shape == [4, 2, 3]
    np.testing.assert_array_equal(run(d.mean()), np.arange(6.).reshape(2, 3))
    np.testing.assert_array_equal(*run(d.log_prob(np.ones([5, 2, 3], np.float32)), tf.reshape(
        tfd.Normal(np.arange(6, dtype=np.float32), 1.).log_prob(np.ones([5, 6], np.float32)), [5, 2, 3])))
    with pytest.raises(ValueError, match="must match"):
        tfd.BatchReshape(normal, [3])


def test_counts_and_points():
    d = tfd.NegativeBinomial(3., probs=0.6)
    got = run(d.prob(2.), d.mean(), d.variance(), d.mode(), d.cdf(0.))
    np.testing.assert_allclose(got, [6 * 0.6 ** 2 * 0.4 ** 3, 4.5, 11.25, 3, 0.4 ** 3], rtol=1e-5)
    assert abs(run(d.sample(4000, seed=1)).mean() - 4.5) < 0.2
    assert run(tfd.Chi2WithAbsDf(-3.5).df) == 3
    d = tfd.VectorDeterministic([[1., 2.], [3., 4.]], rtol=0.1)
    np.testing.assert_array_equal(run(d.prob([[1.05, 2.1], [3., 5.]])), [1, 0])
    assert d.batch_shape == [2] and d.event_shape == [2] and run(d.sample(3)).shape == (3, 2, 2)
    assert d.reparameterization_type is tfd.NOT_REPARAMETERIZED and run(d.rtol) == np.float32(0.1)


def test_autoregressive():
    def step(draws=None):
        before = tf.zeros([3]) if draws is None else tf.concat([tf.zeros_like(draws[..., :1]), draws[..., :-1]], -1)
        return tfd.Independent(tfd.Normal(2. * before, 1e-3), 1)

    d = tfd.Autoregressive(step)
    assert d.num_steps == 3
    draws = run(d.sample(5, seed=4))
    np.testing.assert_allclose(draws[:, 1:], 2 * draws[:, :-1], atol=0.01)
    np.testing.assert_allclose(*run(d.log_prob(draws), step(tf.constant(draws)).log_prob(draws)))


def test_statistics():
    x = np.arange(12.).reshape(3, 4)
    assert run(tfd.percentile(x, 30., interpolation="lower")) == 3.
    got = run(tfd.percentile(x, 30., interpolation="higher"), tfd.percentile(x, 40., axis=0),
              tfd.percentile(x, 50., axis=[-1], keep_dims=True))
    for value, expected in zip(got, (4., [4., 5., 6., 7.], [[1.], [5.], [9.]])):  # halves go to the even place
        np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(run(tfd.tridiag([1., 2.], [4., 5., 6.], [8., 9.])),
                                  [[4, 8, 0], [1, 5, 9], [0, 2, 6]])
    prior = tfd.Normal(1., 2.)
    posterior = tfd.normal_conjugates_known_scale_posterior(prior, 3., tf.constant(7.), 4)
    predictive = tfd.normal_conjugates_known_scale_predictive(prior, 3., tf.constant(7.), 4)
    variance = 1 / (1 / 4 + 4 / 9)
    np.testing.assert_allclose(run(posterior.loc, posterior.scale, predictive.loc, predictive.scale), [
        (1 / 4 + 7 / 9) * variance, math.sqrt(variance), (1 / 4 + 7 / 9) * variance, math.sqrt(variance + 9)],
        rtol=1e-6)
    mean, variance = tfd.moving_mean_variance(tf.constant([1., 2.]), 0.9)
    np.testing.assert_allclose(run(mean, variance), [[0.1, 0.2], [0.09, 0.36]], rtol=1e-5)
    log = tf.Variable([0., 1.])
    np.testing.assert_allclose(run(tfd.assign_log_moving_mean_exp(log, [1., 2.], 0.8)),
                               np.log(0.8 * np.exp([0, 1]) + 0.2 * np.exp([1, 2])), rtol=1e-6)
    stream = tfd.SeedStream(3, "a")
    assert stream() % 1000007 == int(tfd.SeedStream(stream, "a")()) % 1000007 and stream() != stream()
    assert tfd.SeedStream(None, "a")() is None
