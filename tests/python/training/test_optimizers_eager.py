"""Optimizers of version 1 run as they are called, in tf.functions and in sessions, with the same numbers."""
import numpy as np
import pytest

import penstock as tf
from penstock.compat import v1
from penstock._src.graph import context

X = np.random.RandomState(0).randn(16, 2).astype(np.float32)
Y = X @ np.float32([[2.0], [-1.0]]) + 0.5
OPTIMIZERS = {
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.5),
    "adam": lambda: v1.train.AdamOptimizer(0.1),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.5),
    "gradient_descent": lambda: v1.train.GradientDescentOptimizer(0.3),
    "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "proximal_adagrad": lambda: v1.train.ProximalAdagradOptimizer(0.1),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.05),
}


def loss_of(w, b):
    return tf.reduce_mean((tf.matmul(X, w) + b - Y) ** 2)


def in_session(make):
    with v1.Graph().as_default(), v1.Session() as session:
        w = v1.Variable(tf.zeros([2, 1]), use_resource=True)
        b = v1.Variable(tf.zeros([1]), use_resource=True)
        step = make().minimize(loss_of(w, b))
        session.run(v1.global_variables_initializer())
        for _ in range(5):
            session.run(step)
        return session.run([w, b])


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_the_same_everywhere(name):
    make, expected = OPTIMIZERS[name], in_session(OPTIMIZERS[name])
    with context.eager_mode():
        w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(tf.zeros([1]))
        optimizer = make()
        for _ in range(5):
            optimizer.minimize(lambda: loss_of(w, b))
        for mine, theirs in zip((w, b), expected):
            np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5)
        assert all(s.name.startswith("Variable/") or "beta" in s.name for s in optimizer.variables())
        w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(tf.zeros([1]))
        optimizer, steps = make(), tf.Variable(0, dtype=tf.int64)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = loss_of(w, b)
            optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]), global_step=steps)

        for _ in range(5):
            step()
        assert int(steps) == 5
        for mine, theirs in zip((w, b), expected):
            np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5)


def test_rows():
    with context.eager_mode():
        table = tf.Variable(tf.ones([4, 2]))
        v1.train.AdamOptimizer(0.1).minimize(lambda: tf.reduce_sum(tf.gather(table, [1, 1, 2])))
        assert table.numpy()[0].tolist() == [1.0, 1.0]
        np.testing.assert_allclose(table.numpy()[1:3], 0.9, rtol=1e-5)


def test_a_loss_that_was_computed_is_refused():
    with context.eager_mode(), pytest.raises(RuntimeError, match="should be a function"):
        v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


def test_gradients_of_tensors_are_not_applied():
    with context.eager_mode():
        x = tf.constant(3.0)
        optimizer = v1.train.GradientDescentOptimizer(0.5)
        (grad, same), = optimizer.compute_gradients(lambda: x * x, [x])
        assert same is x and grad.numpy() == 6.0
        with pytest.raises(NotImplementedError):
            optimizer.apply_gradients([(grad, same)])


def test_forgetting_graphs_is_no_change_of_mode():
    from penstock._src.graph import defaults
    with context.eager_mode():
        defaults._default_graph_stack.reset()
        assert tf.executing_eagerly() and (tf.constant(1) + 1).numpy() == 2
    assert not tf.executing_eagerly()


def test_optimizers_derive_from_the_base_directly():
    # GPflow registers the classes whose __base__ is Optimizer and refuses others.
    made = [v for name, v in vars(v1.train).items() if name.endswith("Optimizer") and isinstance(v, type)]
    made += [v1.train.AdadeltaOptimizer, v1.train.SyncReplicasOptimizer]
    assert all(c.__base__ is v1.train.Optimizer for c in made if c is not v1.train.Optimizer)


def test_an_optimizer_without_updates_names_no_op():
    with v1.Graph().as_default():
        v = v1.get_variable("v", [2], use_resource=False)
        with pytest.raises(NotImplementedError):
            v1.train.Optimizer(False, "mine").apply_gradients([(v1.constant([1.0, 1.0]), v)])


def test_moving_averages_have_names_when_executing_eagerly():
    with context.eager_mode():
        v0, v1_ = tf.Variable(1., name="v0"), tf.Variable(2., name="v1")
        average = tf.train.ExponentialMovingAverage(0.25, name="foo")
        average.apply([v0, v1_])
        v0.assign(2.)
        v1_.assign(4.)
        average.apply([v0, v1_])
        assert [average.average(v).numpy() for v in (v0, v1_)] == [1.75, 3.5]
        assert [average.average_name(v) for v in (v0, v1_)] == ["v0/foo", "v1/foo"]
        assert average.variables_to_restore([v0]) == {"v0/foo": v0}
