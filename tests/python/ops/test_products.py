"""Products of matrices of many shapes: how they are cut into tiles, and sums of products."""

import numpy as np
import pytest

import penstock.v1 as tf

SHAPES = [(1, 7, 300), (3, 513, 40), (5, 5, 5), (13, 33, 257), (32, 512, 192), (97, 31, 64), (192, 512, 32),
          (100, 130, 300), (60, 17, 600), (2, 50, 513), (30, 67, 700), (32, 192, 512), (61, 34, 1030), (24, 1100, 260)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_layouts(shape, dtype):
    m, n, depth = shape
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((m, depth)).astype(dtype), rng.standard_normal((depth, n)).astype(dtype)
    wanted = a.astype(float) @ b.astype(float)
    with tf.Graph().as_default(), tf.Session() as sess:
        results = [tf.matmul(a.T.copy() if turn_a else a, b.T.copy() if turn_b else b, turn_a, turn_b)
                   for turn_a in (False, True) for turn_b in (False, True)]
        for got in sess.run(results):
            tolerance = 2e-5 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * depth ** 0.5)


@pytest.mark.parametrize("shape", [*SHAPES, (70, 700, 300), (3, 4, 0)], ids=str)
def test_biases_and_rectifiers(shape):
    m, n, depth = shape
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((m, depth)).astype("f"), rng.standard_normal((depth, n)).astype("f")
    bias = rng.standard_normal(n).astype("f") * 3
    a[0, -1:] = np.nan
    wanted = a.astype(float) @ b + bias
    with tf.Graph().as_default(), tf.Session() as sess:
        x, shift = tf.placeholder("float32", [m, depth]), tf.placeholder("float32", [n])
        for turned in (False, True):
            y = tf.placeholder("float32", [n, depth] if turned else [depth, n])
            sums = [tf.matmul(x, y, transpose_b=turned) + shift for _ in range(3)]
            results = [sums[0], tf.nn.relu(sums[1]), tf.nn.relu6(sums[2])]
            feeds = {x: a, y: b.T if turned else b, shift: bias}
            for i, most in enumerate((None, np.inf, 6)):
                got = sess.run(results[i], feeds)
                expected = wanted if most is None else np.clip(wanted, 0, most)
                np.testing.assert_allclose(got, expected, rtol=0, atol=4e-5 * max(depth, 1) ** 0.5)


@pytest.mark.parametrize("shape", [(5, 3, 4), (17, 9, 40), (40, 70, 90)], ids=str)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.complex64, np.complex128])
def test_integers_wrap_and_adjoints_conjugate(shape, dtype):
    m, n, depth = shape
    rng = np.random.default_rng(1)
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        a, b = (rng.integers(limits.min, limits.max, size, dtype) for size in ((m, depth), (depth, n)))
    else:
        a, b = ((rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(dtype)
                for size in ((m, depth), (depth, n)))
    with np.errstate(over="ignore"):
        wanted = a @ b
    tolerance = {np.complex64: 3e-5, np.complex128: 1e-13}.get(dtype, 0)
    with tf.Graph().as_default(), tf.Session() as sess:
        plain = [tf.matmul(a, b), tf.matmul(a.T.copy(), b, transpose_a=True),
                 tf.matmul(a, b.T.copy(), transpose_b=True)]
        adjoint = [tf.matmul(a.conj().T.copy(), b, adjoint_a=True), tf.matmul(a, b.conj().T.copy(), adjoint_b=True)]
        for got in sess.run(plain + adjoint):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * depth ** 0.5)


@pytest.mark.parametrize("shape", [(4, 4, 4), (2, 3, 5), (1, 1, 1), (3, 8, 6), (7, 5, 2), (9, 16, 16), (32, 31, 30),
                                   (5, 40, 7)], ids=str)
def test_batches_of_small_matrices(shape):
    m, n, depth = shape
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((50, m, depth)), rng.standard_normal((50, depth, n))
    with tf.Graph().as_default(), tf.Session() as sess:
        for got in sess.run([tf.matmul(a, b), tf.matmul(a.swapaxes(1, 2).copy(), b.swapaxes(1, 2).copy(), True, True)]):
            np.testing.assert_allclose(got, a @ b, atol=1e-13)


def test_sums_of_products():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((4, 40, 30)).astype(np.float32), rng.standard_normal((4, 30, 50)).astype(np.float32)
    other = rng.standard_normal((40, 50)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        left, right = tf.placeholder(tf.float32, a.shape), tf.placeholder(tf.float32, b.shape)
        base = tf.placeholder(tf.float32)
        terms = [tf.matmul(left[i], right[i]) for i in range(4)]
        both = tf.add_n(terms + [base]), tf.add_n([tf.matmul(left[0], right[0]), base])
        feed = {left: a, right: b, base: other}
        for _ in range(2):
            got = sess.run(both, feed)
            np.testing.assert_allclose(got[0], (a @ b).sum(0) + other, atol=1e-4)
            np.testing.assert_allclose(got[1], a[0] @ b[0] + other, atol=1e-4)
        np.testing.assert_array_equal(sess.run(base, feed), other)
        with pytest.raises(tf.errors.InvalidArgumentError, match="same size and shape"):
            sess.run(both[1], {**feed, base: other[:, :1]})


def test_a_sum_may_hold_what_is_multiplied():
    a = np.random.default_rng(1).standard_normal((20, 20)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, a.shape)
        y = tf.exp(x)
        got = sess.run(tf.add_n([tf.matmul(y, y), y]), {x: a})
    np.testing.assert_allclose(got, np.exp(a) @ np.exp(a) + np.exp(a), rtol=1e-4)


def test_gradients_of_a_weight_used_again_and_again():
    rng = np.random.default_rng(1)
    w_value, x_value = rng.standard_normal((2, 16, 16)).astype(np.float32) * 0.2
    grads = []
    for level in (tf.OptimizerOptions.L0, tf.OptimizerOptions.L1):
        config = tf.ConfigProto(graph_options=tf.GraphOptions(
            optimizer_options=tf.OptimizerOptions(opt_level=level)))
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            w = tf.Variable(w_value)
            h = looped = tf.constant(x_value)
            for _ in range(5):
                h = tf.tanh(tf.matmul(h, w))
            _, looped = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, looped])
            sess.run(w.initializer)
            grads.append(sess.run([tf.gradients(h, w)[0], tf.gradients(looped, w)[0]]))
    for one in (grads[0][1], *grads[1]):
        np.testing.assert_allclose(one, grads[0][0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)], ids=str)
def test_sums_of_many_products_without_elements(shape):
    with tf.Graph().as_default(), tf.Session() as sess:
        pairs = [[tf.placeholder("float32", [None, n]) for n in shape] for _ in range(6)]
        total = tf.add_n([tf.matmul(a, b, transpose_a=True) for a, b in pairs])
        feeds = {x: np.ones((2, n), "f") for pair in pairs for x, n in zip(pair, shape)}
        assert sess.run(total, feeds).shape == shape
