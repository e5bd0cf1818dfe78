"""One recurrent model with dropout, op by op, as a tf.function and in a session: the same numbers."""
import numpy as np
import pytest

import penstock.v1 as v1
import penstock as tf
from penstock._src.graph import context

STEPS, BATCH, TIME, INPUT, UNITS = 5, 4, 6, 3, 8
_random = np.random.RandomState(0)
XS = _random.randn(STEPS, BATCH, TIME, INPUT).astype(np.float32)
YS = _random.randn(STEPS, BATCH, 1).astype(np.float32)
WEIGHTS = [(_random.randn(*shape) * 0.3).astype(np.float32)
           for shape in ((INPUT, UNITS), (UNITS, UNITS), (UNITS,), (UNITS, 1))]


def cell(x, h, seed, weights):
    w, u, b, _ = weights
    h = tf.tanh(tf.matmul(x, w) + tf.matmul(h, u) + b)
    kept = tf.cast(tf.random.stateless_uniform(tf.shape(h), seed) < 0.8, tf.float32)
    return h * kept / 0.8


def loss_of(h, y, weights):
    return tf.reduce_mean(tf.square(tf.matmul(h, weights[3]) - y))


def unrolled(x, y, step, weights):
    h = tf.zeros([BATCH, UNITS])
    for i in range(TIME):
        h = cell(x[:, i], h, tf.stack([step, i]), weights)
    return loss_of(h, y, weights)


def in_a_loop(x, y, step, weights):
    h = tf.while_loop(lambda i, h: i < TIME,
                      lambda i, h: (i + 1, cell(x[:, i], h, tf.stack([step, i]), weights)),
                      (tf.constant(0), tf.zeros([BATCH, UNITS])))[1]
    return loss_of(h, y, weights)


def train_eagerly(model, wrap):
    weights = [tf.Variable(w) for w in WEIGHTS]

    def step(x, y, number):
        with tf.GradientTape() as tape:
            loss = model(x, y, number, weights)
        for w, slope in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(0.1 * slope)
        return loss

    step = wrap(step)
    losses = [float(step(tf.constant(XS[i]), tf.constant(YS[i]), tf.constant(i))) for i in range(STEPS)]
    return losses, [w.numpy() for w in weights]


def train_in_a_session(functional):
    before = v1.control_flow_v2_enabled()
    (v1.enable_control_flow_v2 if functional else v1.disable_control_flow_v2)()
    try:
        with v1.Graph().as_default(), v1.Session() as session:
            weights = [v1.get_variable(f"w{i}", initializer=w) for i, w in enumerate(WEIGHTS)]
            x, y = v1.placeholder(tf.float32, XS.shape[1:]), v1.placeholder(tf.float32, YS.shape[1:])
            number = v1.placeholder(tf.int32, [])
            loss = in_a_loop(x, y, number, weights)
            train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
            session.run(v1.global_variables_initializer())
            losses = [session.run([loss, train], {x: XS[i], y: YS[i], number: i})[0] for i in range(STEPS)]
            return losses, session.run(weights)
    finally:
        (v1.enable_control_flow_v2 if before else v1.disable_control_flow_v2)()


STYLES = {
    "function": lambda: train_eagerly(in_a_loop, tf.function),
    "function_unrolled": lambda: train_eagerly(unrolled, tf.function),
    "session": lambda: train_in_a_session(False),
    "session_functional": lambda: train_in_a_session(True),
}


@pytest.mark.parametrize("style", STYLES)
def test_as_op_by_op(style):
    with context.eager_mode():
        expected = train_eagerly(unrolled, lambda f: f)
    if style.startswith("session"):
        losses, weights = STYLES[style]()
    else:
        with context.eager_mode():
            losses, weights = STYLES[style]()
    assert expected[0][-1] != expected[0][0]
    np.testing.assert_allclose(losses, expected[0], rtol=1e-5)
    for mine, theirs in zip(weights, expected[1]):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)
