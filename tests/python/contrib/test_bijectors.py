"""tf.contrib.distributions.bijectors: maps, their inverses, and log |det J| against the Jacobian of gradients."""
import numpy as np
import pytest

import penstock.v1 as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors
X = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
TRIL = np.array([[2., 0., 0.], [0.5, 1.5, 0.], [-0.3, 0.8, 1.2]])


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


def log_det(y, x):
    """log |det dy/dx| of one vector each, from the gradient of every number of y."""
    rows = [tf.gradients(y[i], x)[0] for i in range(y.shape[0].value)]
    return np.linalg.slogdet(run(tf.stack(rows))[0])[1]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("make, x", [
    (lambda: tfb.Exp(), X), (lambda: tfb.PowerTransform(0.5), X + 2), (lambda: tfb.Sigmoid(), X),
    (lambda: tfb.Softplus(hinge_softness=np.float64(2.)), X), (lambda: tfb.Softsign(), X),
    (lambda: tfb.Square(), abs(X)), (lambda: tfb.Gumbel(np.float64(.3), np.float64(2.)), X),
    (lambda: tfb.Kumaraswamy(np.float64(2.), np.float64(3.)), abs(X) / 2),
    (lambda: tfb.SinhArcsinh(np.float64(.3), np.float64(1.5)), X),
    (lambda: tfb.AffineScalar(np.float64(1.), np.float64(-2.)), X), (lambda: tfb.Identity(), X),
    (lambda: tfb.Affine(shift=X[0]), X), (lambda: tfb.Affine(scale_identity_multiplier=np.float64(3.)), X),
    (lambda: tfb.Affine(shift=X[0], scale_tril=TRIL, scale_diag=np.ones(3)), X),
    (lambda: tfb.Affine(scale_diag=X[1] ** 2, scale_perturb_factor=X.T, scale_perturb_diag=np.array([1., 2.])), X),
    (lambda: tfb.AffineLinearOperator(X[1], tf.linalg.LinearOperatorLowerTriangular(TRIL)), X),
    (lambda: tfb.Ordered(), np.sort(X)), (lambda: tfb.Permute([2, 0, 1]), X),
    (lambda: tfb.Chain([tfb.Exp(), tfb.Affine(scale_tril=TRIL), tfb.Softplus()]), X),
    (lambda: tfb.Invert(tfb.Exp()), abs(X)),
    (lambda: tfb.Inline(tf.exp, tf.log, lambda y: -tf.log(y), forward_min_event_ndims=0), X),
], ids=lambda value: None)
def test_vectors(make, x):
    bijector = make()
    point = tf.constant(x)
    image = bijector.forward(point)
    assert bijector.inverse(image) is point
    forward = bijector.forward_log_det_jacobian(point, event_ndims=1)
    fresh = tf.constant(run(image)[0])
    back, inverse, forward = run(bijector.inverse(fresh), bijector.inverse_log_det_jacobian(fresh, event_ndims=1),
                                 forward + tf.zeros([2], tf.float64))
    np.testing.assert_allclose(back, x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(-inverse + np.zeros(2), forward, rtol=1e-9, atol=1e-9)
    for i in range(2):
        one = tf.constant(x[i])
        np.testing.assert_allclose(log_det(make().forward(one[None])[0], one), forward[i], rtol=1e-8, atol=1e-8)


def test_matrices():
    vector = tf.constant(X.ravel())
    spiral = run(tfb.FillTriangular().forward(vector))[0]
    np.testing.assert_array_equal(spiral, [[1.5, 0, 0], [-.6, .4, 0], [.7, -1.2, .3]])
    np.testing.assert_array_equal(run(tfb.FillTriangular().inverse(spiral))[0], X.ravel())
    assert tfb.FillTriangular().forward_event_shape([6]).as_list() == [3, 3]
    assert tfb.FillTriangular().inverse_event_shape([3, 3]).as_list() == [6]
    # The lower triangle of the product has as many numbers as the triangle: its Jacobian is that of vectors.
    to_covariance = tfb.Chain([tfb.CholeskyOuterProduct(), tfb.ScaleTriL(diag_shift=None)])
    assert (to_covariance.forward_min_event_ndims, to_covariance.inverse_min_event_ndims) == (1, 2)
    covariance = to_covariance.forward(vector)
    lower = tf.boolean_mask(covariance, np.tril(np.ones([3, 3], bool)))
    expected = np.linalg.slogdet(run(tf.stack([tf.gradients(n, vector)[0] for n in tf.unstack(lower, 6)]))[0])[1]
    got, back = run(to_covariance.forward_log_det_jacobian(vector, event_ndims=1),
                    to_covariance.inverse(tf.constant(run(covariance)[0])))
    np.testing.assert_allclose(got, expected)
    np.testing.assert_allclose(back, X.ravel())
    # 1.15.5 counts the inverse of a triangle as that of any matrix.
    inverse, by = run(tfb.MatrixInverseTriL().forward(TRIL),
                      tfb.MatrixInverseTriL().forward_log_det_jacobian(TRIL, event_ndims=2))
    np.testing.assert_allclose(inverse, np.linalg.inv(TRIL), atol=1e-12)
    np.testing.assert_allclose(by, -6 * np.log(np.diag(TRIL)).sum())
    diagonal = run(tfb.TransformDiagonal(tfb.Exp()).forward(TRIL))[0]
    np.testing.assert_allclose(np.diag(diagonal), np.exp(np.diag(TRIL)))


def test_shapes_of_events():
    centered = tfb.SoftmaxCentered()
    y = run(centered.forward(X))[0]
    np.testing.assert_allclose(y.sum(-1), 1)
    assert centered.forward_event_shape([3]).as_list() == [4]
    np.testing.assert_allclose(run(centered.inverse(y))[0], X)
    np.testing.assert_allclose(run(centered.forward_log_det_jacobian(X, event_ndims=1))[0], np.log(y).sum(-1))
    reshape = tfb.Reshape([3, 1], [-1])
    assert reshape.forward(tf.constant(X)).shape == [2, 3, 1]
    assert reshape.inverse(tf.zeros([5, 3, 1])).shape == [5, 3]
    assert reshape.forward_event_shape([3]).as_list() == [3, 1]
    np.testing.assert_array_equal(run(reshape.forward_event_shape_tensor([3]))[0], [3, 1])
    with pytest.raises(ValueError, match="at most one `-1`"):
        tfb.Reshape([-1, -1])


def test_not_injective():
    points = tfb.AbsoluteValue().inverse(tf.constant([2.]))
    assert [float(p[0]) for p in run(*points)] == [-2, 2]
    folded = tfd.TransformedDistribution(tfd.Normal(0.3, 1.), tfb.AbsoluteValue())
    density = lambda x: np.exp(-0.5 * (x - 0.3) ** 2) / np.sqrt(2 * np.pi)  # noqa: E731
    np.testing.assert_allclose(run(folded.prob(2.), folded.log_prob(2.)),
                               [density(2.) + density(-2.), np.log(density(2.) + density(-2.))], rtol=1e-6)
    with pytest.raises(NotImplementedError):
        tfb.Invert(tfb.AbsoluteValue())


@pytest.mark.parametrize("make", [
    lambda: tfb.RealNVP(1, tfb.real_nvp_default_template([4])),
    lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([6])),
    lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([6]), unroll_loop=True)])
def test_flows(make):
    bijector = make()
    point = tf.constant(X)
    image = bijector.forward(point)
    variables = len(tf.trainable_variables())
    back = bijector.inverse(tf.identity(image))
    forward = bijector.forward_log_det_jacobian(point, event_ndims=1)
    inverse = bijector.inverse_log_det_jacobian(tf.identity(image), event_ndims=1)
    assert len(tf.trainable_variables()) == variables == 4
    jacobian = tf.stack([tf.gradients(bijector.inverse(point)[:, i], point)[0] for i in range(3)], axis=1)
    back, forward, inverse, jacobian, at = run(
        back, forward, inverse, jacobian, bijector.inverse_log_det_jacobian(point, event_ndims=1))
    np.testing.assert_allclose(back, X, rtol=1e-6)
    np.testing.assert_allclose(forward, -inverse, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.slogdet(jacobian)[1], at, rtol=1e-6, atol=1e-8)
    assert np.all(np.triu(jacobian, 1) == 0)


def test_batch_normalization():
    flow = tfb.BatchNormalization()
    x, y = tf.constant(X), flow.inverse(tf.constant(X))
    got, det = run(y, flow.inverse_log_det_jacobian(x, event_ndims=1))
    np.testing.assert_allclose(got, (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-3), rtol=1e-6)
    np.testing.assert_allclose(det, -0.5 * np.log(X.var(0) + 1e-3).sum(), rtol=1e-6)
    with pytest.raises(ValueError, match="instance of BatchNormalization"):
        tfb.BatchNormalization(tf.layers.Dense(1))


def test_arguments():
    assert tfb.Chain([tfb.Exp(), tfb.Softplus()]).name == "chain_of_exp_of_softplus"
    assert tfb.Invert(tfb.Exp()).name == "invert_exp" and tfb.Chain([]).name == "identity"
    for make, error in [
            (lambda: tfb.Bijector(), ValueError), (lambda: tfb.Bijector(forward_min_event_ndims=-1), ValueError),
            (lambda: tfb.Permute([0, 0]), ValueError), (lambda: tfb.PowerTransform(-1.), ValueError),
            (lambda: tfb.Affine(scale_perturb_diag=1.), ValueError), (lambda: tfb.RealNVP(0, None), ValueError),
            (lambda: tfb.AffineLinearOperator(scale=tf.ones([2])), TypeError),
            (lambda: tfb.FillTriangular().forward_log_det_jacobian(X, event_ndims=0), ValueError),
            (lambda: tfb.Affine(shift=X).forward(np.float32(X)), TypeError)]:
        with pytest.raises(error):
            make()
    with pytest.raises(tf.errors.InvalidArgumentError, match="strictly increasing"):
        run(tfb.Ordered(validate_args=True).forward(tf.constant([2., 1.])))

    from penstock._src import contrib  # noqa: F401  (its modules are also found by TensorFlow's internal names)
    from penstock.alias import table
    assert table.target("contrib.distributions.python.ops.mvn_linear_operator")
    assert "contrib.distributions.python.ops.bijectors" in table.NAMESPACES


def test_conditional():
    class Scale(tfb.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0)

        def _forward(self, x, by):
            return x * by

        def _inverse(self, y, by):
            return y / by

        def _inverse_log_det_jacobian(self, y, by):
            return -tf.log(by)

    scaled = tfd.ConditionalTransformedDistribution(tfd.Normal(0., 1.), tfb.Chain([Scale()]))
    by = {"scale": {"by": tf.constant(2.)}}
    with pytest.raises(TypeError):
        scaled.distribution.log_prob(1., by=2.)
    scaled = tfd.ConditionalTransformedDistribution(tfd.Normal(0., 1.), Scale())
    got = run(scaled.log_prob(1., bijector_kwargs=by["scale"]), tfd.Normal(0., 2.).log_prob(1.))
    np.testing.assert_allclose(got[0], got[1], rtol=1e-6)
    assert run(scaled.sample([4], bijector_kwargs=by["scale"]))[0].shape == (4,)
