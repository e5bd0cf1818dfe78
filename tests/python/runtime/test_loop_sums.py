"""Products that a loop adds up several at a time, and those of which only some columns are computed: values against
NumPy."""

import numpy as np
import penstock as tf
import pytest

v1 = tf.compat.v1


def step_sum(graph, steps, a, b, initial):
    """The result of `steps` rounds of sum += (a * (round + 1))^T b in a loop of version 1."""
    with graph.as_default():
        x, y = v1.placeholder(tf.float32, a.shape), v1.placeholder(tf.float32, b.shape)
        count = v1.placeholder(tf.int32, [])

        def body(i, s):
            return i + 1, tf.add_n([s, tf.matmul(x * tf.cast(i + 1, tf.float32), y, transpose_a=True)])

        result = v1.while_loop(lambda i, s: i < count, body, [0, tf.constant(initial)])[1]
        with v1.Session() as session:
            return [session.run(result, {x: a, y: b, count: n}) for n in steps]


@pytest.mark.parametrize("m, n, depth", [(192, 128, 32), (97, 101, 5), (100, 90, 300), (3, 4, 2), (90, 100, 0)])
def test_sums_of_products_in_a_loop(m, n, depth):
    rng = np.random.default_rng(m)
    a, b = rng.standard_normal((depth, m), np.float32), rng.standard_normal((depth, n), np.float32)
    initial = rng.standard_normal((m, n), np.float32)
    steps = [0, 1, 3, 20]
    for count, got in zip(steps, step_sum(v1.Graph(), steps, a, b, initial), strict=True):
        want = initial + (a.astype(float).T @ b) * (count * (count + 1) / 2)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4 * (1 + count * count))


def test_sums_of_many_products():
    """Of depths below and above what is added at a time."""
    rng = np.random.default_rng(5)
    pairs = [(rng.standard_normal((d, 120), np.float32), rng.standard_normal((d, 110), np.float32))
             for d in (20, 70, 1, 200, 0, 31)]
    with v1.Graph().as_default():
        feeds = {v1.placeholder(tf.float32, x.shape): x for pair in pairs for x in pair}
        places = list(feeds)
        products = [tf.matmul(a, b, transpose_a=True) for a, b in zip(places[::2], places[1::2], strict=True)]
        total = tf.add_n(products)
        with v1.Session() as session:
            got = session.run(total, feeds)
    np.testing.assert_allclose(got, sum(a.astype(float).T @ b for a, b in pairs), rtol=1e-4, atol=1e-4)


def test_a_sum_of_another_shape_is_refused():
    with v1.Graph().as_default():
        x, s = v1.placeholder(tf.float32, [None, 120]), v1.placeholder(tf.float32, [None, None])
        result = v1.while_loop(lambda i, s: i < 3,
                               lambda i, s: (i + 1, tf.add_n([s, tf.matmul(x, x, transpose_a=True)])), [0, s],
                               shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])[1]
        with v1.Session() as session:
            assert session.run(result, {x: np.ones((2, 120)), s: np.zeros((120, 120))})[0, 0] == 6
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(result, {x: np.ones((2, 120)), s: np.zeros((1, 120))})


def test_gradient_of_a_recurrent_cell():
    """A state of 64 beside an input of 40 whose gradient nobody wants, against NumPy's backward pass."""
    steps, batch, inputs, units = 7, 20, 40, 64
    rng = np.random.default_rng(3)
    xs = rng.standard_normal((steps, batch, inputs), np.float32)
    weight = (rng.standard_normal((inputs + units, units)) * 0.1).astype(np.float32)
    with v1.Graph().as_default():
        w = tf.constant(weight)
        x = v1.placeholder(tf.float32, xs.shape)
        state = v1.while_loop(lambda t, h: t < steps,
                              lambda t, h: (t + 1, tf.tanh(tf.matmul(tf.concat([x[t], h], 1), w))),
                              [0, tf.zeros([batch, units])])[1]
        gradient = tf.gradients(tf.reduce_sum(state), w)[0]
        with v1.Session() as session:
            got = session.run(gradient, {x: xs})
    states = [np.zeros((batch, units))]
    for step in xs:
        states.append(np.tanh(np.concatenate([step, states[-1]], 1) @ weight))
    up, want = np.ones((batch, units)), np.zeros(weight.shape)
    for step in reversed(range(steps)):
        up = up * (1 - states[step + 1] ** 2)
        want += np.concatenate([xs[step], states[step]], 1).T @ up
        up = up @ weight[inputs:].T
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.complex64])
def test_columns_of_a_product(dtype):
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal((6, 33)) * 4).astype(dtype), (rng.standard_normal((50, 33)) * 4).astype(dtype)
    with v1.Graph().as_default():
        x, y = v1.placeholder(dtype, a.shape), v1.placeholder(dtype, b.shape)

        def product():
            return tf.matmul(x, y, transpose_b=True)

        parts = [tf.split(product(), [10, 37, 3], 1)[1], tf.split(product(), 5, 1)[4], product()[:, 20:],
                 tf.slice(product(), [0, 7], [-1, 5])]
        with v1.Session() as session:
            got = session.run(parts, {x: a, y: b})
    whole = a @ b.T
    for part, want in zip(got, [whole[:, 10:47], whole[:, 40:], whole[:, 20:], whole[:, 7:12]], strict=True):
        np.testing.assert_allclose(part, want, rtol=1e-4, atol=1e-4)
