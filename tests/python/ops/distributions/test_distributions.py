"""tf.distributions: densities against formulas, draws by their means, refusals."""
import math

import numpy as np
import pytest

import penstock.v1 as tf

tfd = tf.distributions


def run(value):
    with tf.Session() as sess:
        return sess.run(value)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_normal_broadcasts_and_has_names():
    d = tfd.Normal([1., 2.], [[.5], [2.]])
    assert str(d) == 'tfp.distributions.Normal("Normal/", batch_shape=(2, 2), event_shape=(), dtype=float32)'
    assert d.prob(.3).name == "Normal/prob/Exp:0" and d.sample(3, seed=5).name == "Normal/sample/Reshape:0"
    z = (.3 - np.array([1., 2.])) / np.array([[.5], [2.]])
    np.testing.assert_allclose(run(d.prob(.3)), np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / [[.5], [2.]], rtol=1e-6)
    cdf = np.vectorize(lambda v: .5 * math.erfc(-v / math.sqrt(2)))(z)
    np.testing.assert_allclose(run(d.cdf(.3)), cdf, rtol=1e-5)
    np.testing.assert_allclose(run(d.log_survival_function(.3)), np.log(1 - cdf), rtol=2e-4)
    np.testing.assert_allclose(run(d.quantile(d.cdf(.3))), np.full((2, 2), .3), rtol=1e-4)


def test_normal_far_from_its_mean():
    d = tfd.Normal(0., 1.)
    np.testing.assert_allclose(run(d.log_cdf([-20., -40.])), [-203.91715, -804.60846], rtol=1e-6)
    grads = tf.gradients(d.log_cdf(tf.constant([-40., 0., 30.])), [d.loc])[0]
    np.testing.assert_allclose(run(grads), -(40.02494 + 2 / np.sqrt(2 * np.pi)), rtol=1e-4)


@pytest.mark.parametrize("make", [
    lambda: tfd.Normal([1., 2.], [[.5], [2.]]),
    lambda: tfd.Categorical([[.2, .3, .5], [1., 2., 3.]]),
    lambda: tfd.Beta([2., .5], [3., 4.]),
], ids=["normal", "categorical", "beta"])
def test_draws_have_the_shape_and_mean(make):
    d = make()
    assert d.sample([2, 1], seed=5).shape == [2, 1] + d.batch_shape.as_list()
    draws = run(d.sample(20000, seed=7)).astype(np.float64)
    mean = (run(d.mean()) if d.dtype.is_floating else
            (run(d.probs) * np.arange(3)).sum(-1))
    np.testing.assert_allclose(draws.mean(0), mean, atol=.05)


def test_a_policy_is_learned_through_log_prob_and_entropy():
    """What programs of reinforcement learning do: log-probabilities of actions, entropy, divergence of two policies."""
    logits = tf.Variable([[0., 0., 0.]])
    d, old = tfd.Categorical(logits=logits), tfd.Categorical(logits=[[1., 0., 0.]])
    loss = -tf.reduce_mean(d.log_prob([2]) + .1 * d.entropy())
    train = tf.train.GradientDescentOptimizer(1.).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        p = np.exp([1., 0., 0.]) / np.exp([1., 0., 0.]).sum()
        np.testing.assert_allclose(sess.run(tfd.kl_divergence(old, d)), [np.sum(p * np.log(p * 3))], rtol=1e-5)
        for _ in range(50):
            sess.run(train)
        assert sess.run(d.mode()) == [2] and sess.run(d.prob([2])) > .9


def test_other_families_at_known_points():
    assert run(tfd.Laplace(0., 2.).cdf([0., 2.])).tolist() == pytest.approx([.5, 1 - .5 * math.exp(-1)])
    assert run(tfd.Uniform(0., [2., 4.]).prob([1., 5.])).tolist() == [.5, 0.]
    assert run(tfd.Gamma(3., 2.).prob(1.)) == pytest.approx(4 * math.exp(-2), rel=1e-5)
    assert run(tfd.Exponential(2.).survival_function(1.)) == pytest.approx(math.exp(-2), rel=1e-5)
    assert run(tfd.Beta(2., 3.).prob(.5)) == pytest.approx(12 * .5 * .25, rel=1e-5)
    assert run(tfd.StudentT(1., 0., 1.).prob(1.)) == pytest.approx(1 / (2 * math.pi), rel=1e-5)
    assert run(tfd.Bernoulli(probs=[.2, .8]).mode()).tolist() == [0, 1]
    assert run(tfd.Dirichlet([1., 2., 3.]).mean()).tolist() == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    assert run(tfd.Multinomial(3., probs=[.5, .5]).prob([1., 2.])) == pytest.approx(3 / 8)
    assert run(tfd.DirichletMultinomial(1., [1., 3.]).prob([0., 1.])) == pytest.approx(.75, rel=1e-5)
    assert run(tfd.Multinomial([3., 2.], [1., 2.]).sample(4, seed=1)).sum(-1).tolist() == [[3., 2.]] * 4


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match="Must pass probs or logits"):
        tfd.Categorical()
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than 1"):
        run(tfd.Bernoulli(probs=[1.5], validate_args=True).mean())
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode not defined"):
        run(tfd.Gamma(.5, 1., allow_nan_stats=False).mode())
    assert math.isnan(run(tfd.Gamma(.5, 1.).mode()))
    with pytest.raises(NotImplementedError, match="mode is not implemented: Uniform"):
        tfd.Uniform().mode()
    with pytest.raises(NotImplementedError, match="Normal and distribution_b type Gamma"):
        tfd.kl_divergence(tfd.Normal(0., 1.), tfd.Gamma(1., 1.))


def test_a_subclass_is_found_by_its_parents():
    class Shifted(tfd.Normal):
        pass

    assert run(tfd.kl_divergence(Shifted(0., 1.), tfd.Normal(1., 1.))) == pytest.approx(.5)
    with pytest.raises(ValueError, match="already been registered"):
        tfd.RegisterKL(tfd.Normal, tfd.Normal)(lambda a, b, name=None: None)


def test_triangular_matrices_of_vectors():
    fill = tf.contrib.distributions.fill_triangular
    assert run(fill([1., 2., 3., 4., 5., 6.])).tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert run(tf.contrib.distributions.fill_triangular_inverse(fill([1., 2., 3.], upper=True), upper=True)).tolist() \
        == [1, 2, 3]
    with pytest.raises(ValueError, match="triangular"):
        fill([1., 2.])
