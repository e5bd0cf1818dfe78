"""tf.contrib.opt: four steps of each optimizer, on dense and sparse gradients, as in TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

opt = tf.contrib.opt


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def clipped(w, e):
    return opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(.1), {w: [0], e: [1]}, 1.5)


# Rows 0 and 2 of the matrix after four steps; row 1 has no gradient.
@pytest.mark.parametrize("make, vector, rows", [
    (lambda w, e: opt.LazyAdamOptimizer(.1), [1.39849, 2.39606], [[.39606, 1.39606], [3.60065, 5]]),
    (lambda w, e: opt.NadamOptimizer(.1), [1.56654, 2.54975], [[.54975, 1.54975], [3.42692, 5]]),
    (lambda w, e: opt.AdaMaxOptimizer(.1), [1.38462, 2.36903], [[.36903, 1.36903], [3.60744, 5]]),
    (lambda w, e: opt.AdamWOptimizer(.01, .1), [1.35334, 2.31244], [[.39016, 1.35133], [3.4493, 5.01506]]),
    (lambda w, e: opt.MomentumWOptimizer(.01, .1, .9, use_nesterov=True), [3.59936, 3.27412],
     [[1.3082, 2.29116], [-1.30094, 4.91482]]),
    (lambda w, e: opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(.01, learning_rate=.1),
     [1.22763, 2.18233], [[.25718, 1.21978], [3.57415, 4.91142]]),
    (clipped, [1.01299, 1.10628], [[.52377, 1.40558], [.13883, 1.49356]]),
    (lambda w, e: opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(.1), .5), [2.1808, 2.5904],
     [[.5904, 1.5904], [1.6384, 5]]),
], ids="LazyAdam Nadam AdaMax AdamW MomentumW extended clipped averaged".split())
@pytest.mark.parametrize("use_resource", [False, True])
def test_steps(make, vector, rows, use_resource):
    with tf.variable_scope("v", use_resource=use_resource):
        w = tf.get_variable("w", initializer=tf.constant([1., 2.]))
        e = tf.get_variable("e", initializer=tf.reshape(tf.range(6.), [3, 2]))
    looked_up = tf.nn.embedding_lookup(e, [0, 2])
    loss = tf.reduce_sum(tf.square(w - 3.)) + tf.reduce_sum(tf.square(looked_up - [[1., 2.], [0., 5.]]))
    step = make(w, e).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(step)
        found_w, found_e = session.run([w, e])
    np.testing.assert_allclose(found_w, vector, atol=2e-5)
    np.testing.assert_allclose(found_e, [rows[0], [2, 3], rows[1]], atol=2e-5)


def test_only_chosen_variables_decay():
    w, u = (tf.Variable([1., 2.]) for _ in range(2))
    optimizer = opt.AdamWOptimizer(.1, .1)
    loss = tf.reduce_sum(w * w + u * u)
    both = optimizer.minimize(loss, decay_var_list=[w])
    one = optimizer.apply_gradients(optimizer.compute_gradients(loss), decay_var_list=[w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(one)
        np.testing.assert_allclose(session.run([w, u]), [[.8, 1.7], [.9, 1.9]], rtol=1e-6)
        session.run(tf.global_variables_initializer())
        session.run(both)  # TensorFlow's `minimize` drops the list
        np.testing.assert_allclose(session.run([w, u]), [[.8, 1.7], [.8, 1.7]], rtol=1e-6)


def test_a_saver_swaps_variables_with_their_averages(tmp_path):
    w = tf.get_variable("w", initializer=tf.constant([1., 2.]))
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(.1), .5)
    with pytest.raises(RuntimeError, match="before creating the swapping_saver"):
        optimizer.swapping_saver()
    step = optimizer.minimize(tf.reduce_sum(w * w))
    saver = optimizer.swapping_saver()
    with pytest.raises(ValueError, match="not part of variables to save"):
        optimizer.swapping_saver([w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        path = saver.save(session, str(tmp_path / "swapped"))
    np.testing.assert_allclose(tf.train.load_variable(path, "w"), [.9, 1.8], rtol=1e-6)
    np.testing.assert_allclose(tf.train.load_variable(path, "w/ExponentialMovingAverage"), [.8, 1.6], rtol=1e-6)


class Descent(opt.ExternalOptimizerInterface):
    """Plain descent, in place of SciPy's."""

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
                  inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):
        x = initial_val
        for _ in range(optimizer_kwargs["steps"]):
            x = x - .25 * loss_grad_func(x)[1]
            step_callback(x)
        self.bounds, self.constraint = packed_bounds, (equality_funcs[0](x), equality_grad_funcs[0](x))
        return x


def test_an_optimizer_outside_of_the_graph_sees_one_vector():
    w, u = tf.Variable([[1., 2.]]), tf.Variable(3.)
    given = tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum(tf.square(w - given)) + tf.square(u)
    optimizer = Descent(loss, equalities=[tf.reduce_sum(w)], var_to_bounds={w: (0, [[1., 5.]])}, steps=30)
    seen, steps = [], []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, feed_dict={given: 2.}, fetches=[loss], step_callback=steps.append,
                           loss_callback=seen.append)
        np.testing.assert_allclose(session.run(w), [[2, 2]], atol=1e-4)
        np.testing.assert_allclose(session.run(u), 0, atol=1e-4)
    assert seen[0] == 10 and len(seen) == len(steps) == 30
    assert optimizer.bounds == [(0, 1), (0, 5), (-np.inf, np.inf)]
    np.testing.assert_allclose(optimizer.constraint[0], [4], atol=1e-4)
    np.testing.assert_array_equal(optimizer.constraint[1], [[1, 1, 0]])


def test_scipy_finds_the_least():
    pytest.importorskip("scipy")
    w = tf.Variable([5., -3.])
    optimizer = opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(w - 1.)), var_to_bounds={w: (-9, [.5, 9.])},
                                            options={"maxiter": 50})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session)
        np.testing.assert_allclose(session.run(w), [.5, 1], atol=1e-4)
        with pytest.raises(ValueError, match="var_to_bounds"):
            opt.ScipyOptimizerInterface(tf.reduce_sum(w * w), bounds=[]).minimize(session)
