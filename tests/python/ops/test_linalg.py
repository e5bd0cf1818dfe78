"""Linear algebra against NumPy, its gradients against differences, and what it refuses."""
import numpy as np
import pytest

import penstock.v1 as tf

RNG = np.random.RandomState(0)
TYPES = {np.float32: 2e-4, np.float64: 1e-10, np.complex64: 2e-4, np.complex128: 1e-10}


def matrices(*shape, dtype=np.float64, positive=False):
    x = RNG.normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RNG.normal(size=shape)
    if positive:
        x = x @ np.conj(np.swapaxes(x, -1, -2)) + 2 * np.eye(shape[-1])
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.fixture
def run():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess.run


@pytest.mark.parametrize("dtype", TYPES)
def test_solving(run, dtype):
    near = dict(rtol=0, atol=TYPES[dtype] * 10)
    a, b = matrices(2, 3, 4, 4, dtype=dtype, positive=True), matrices(2, 3, 4, 2, dtype=dtype)
    np.testing.assert_allclose(run(tf.linalg.inv(a)), np.linalg.inv(a), **near)
    np.testing.assert_allclose(run(tf.linalg.inv(a, adjoint=True)), adjoint(np.linalg.inv(a)), **near)
    np.testing.assert_allclose(run(tf.linalg.solve(a, b)), np.linalg.solve(a, b), **near)
    np.testing.assert_allclose(run(tf.linalg.solve(a, b, adjoint=True)), np.linalg.solve(adjoint(a), b), **near)
    chol = run(tf.linalg.cholesky(a))
    np.testing.assert_allclose(chol @ adjoint(chol), a, rtol=1e-4)
    np.testing.assert_allclose(run(tf.linalg.triangular_solve(chol, b)), np.linalg.solve(chol, b), **near)
    np.testing.assert_allclose(run(tf.linalg.triangular_solve(a[0], b, lower=False, adjoint=True)),
                               np.linalg.solve(adjoint(np.triu(a[0])), b), **near)
    np.testing.assert_allclose(run(tf.linalg.det(a)), np.linalg.det(a), rtol=1e-3)
    sign, log = run(tf.linalg.slogdet(-a))
    np.testing.assert_allclose(sign * np.exp(log), np.linalg.det(a), rtol=1e-3)
    lu, p = tf.linalg.lu(a)
    np.testing.assert_allclose(run(tf.linalg.lu_reconstruct(lu, p)), a, **near)
    np.testing.assert_allclose(run(tf.linalg.lu_solve(lu, p, b)), np.linalg.solve(a, b), **near)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m, n", [(4, 4), (5, 3), (3, 5)])
def test_decompositions(run, dtype, m, n):
    near = dict(rtol=0, atol=TYPES[dtype] * 10)
    x = matrices(2, m, n, dtype=dtype)
    for full in (False, True):
        q, r = run(tf.linalg.qr(x, full_matrices=full))
        np.testing.assert_allclose(q @ r, x, **near)
        np.testing.assert_allclose(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), q.shape[:1] + 2 * q.shape[-1:]),
                                   **near)
        s, u, v = run(tf.linalg.svd(x, full_matrices=full))
        np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), **near)
        p = min(m, n)
        np.testing.assert_allclose(u[..., :p] * s[..., None, :] @ adjoint(v[..., :p]), x, **near)
    rhs = matrices(2, m, 2, dtype=dtype)
    for fast in (True, False):
        if m == n and fast:
            continue  # squares the condition number
        expected = np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(x, rhs)])
        np.testing.assert_allclose(run(tf.raw_ops.MatrixSolveLs(matrix=x, rhs=rhs, l2_regularizer=0.0, fast=fast)),
                                   expected, rtol=0, atol=TYPES[dtype] * 100)


@pytest.mark.parametrize("dtype", TYPES)
def test_eigenvalues_and_functions(run, dtype):
    near = dict(rtol=0, atol=TYPES[dtype] * 20)
    a = matrices(2, 4, 4, dtype=dtype, positive=True)
    e, v = run(tf.linalg.eigh(a))
    np.testing.assert_allclose(e.real, np.linalg.eigvalsh(a), rtol=1e-4)
    np.testing.assert_allclose(v * e[..., None, :] @ adjoint(v), a, rtol=0, atol=TYPES[dtype] * 50)
    root = run(tf.linalg.sqrtm(a))
    np.testing.assert_allclose(root @ root, a, rtol=0, atol=TYPES[dtype] * 50)
    e, v = np.linalg.eigh(a)
    small = a / 4
    np.testing.assert_allclose(run(tf.linalg.expm(small)), v * np.exp(e / 4)[..., None, :] @ adjoint(v), rtol=1e-3)
    if np.issubdtype(dtype, np.complexfloating):
        np.testing.assert_allclose(run(tf.linalg.logm(a)), v * np.log(e)[..., None, :] @ adjoint(v), **near)
    values, vectors = run(tf.raw_ops.Eig(input=a, Tout=tf.complex128 if a.dtype.itemsize in (8, 16)
                                         and a.dtype.char in "dD" else tf.complex64))
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], rtol=0, atol=TYPES[dtype] * 50)


def test_banded(run):
    above, main, below = matrices(2, 5), matrices(2, 5) + 5, matrices(2, 5)
    dense = np.stack([np.diag(m) + np.diag(a[:-1], 1) + np.diag(b[1:], -1) for a, m, b in zip(above, main, below)])
    rhs = matrices(2, 5, 3)
    d = np.stack([above, main, below], 1)
    for pivoting in (True, False):
        x = tf.raw_ops.TridiagonalSolve(diagonals=d, rhs=rhs, partial_pivoting=pivoting)
        np.testing.assert_allclose(run(x), np.linalg.solve(dense, rhs), atol=1e-10)
    np.testing.assert_allclose(run(tf.linalg.tridiagonal_matmul(d, rhs)), dense @ rhs, atol=1e-10)
    bands = np.array([[1., 2, 3, 4], [5, 6, 7, 8]])
    lower = np.diag([1., 2, 3, 4]) + np.diag([6., 7, 8], -1)
    upper = np.diag([5., 6, 7, 8]) + np.diag([1., 2, 3], 1)
    rhs = matrices(4, 2)
    for is_lower, matrix in ((True, lower), (False, upper)):
        for turned in (False, True):
            x = tf.raw_ops.BandedTriangularSolve(matrix=bands, rhs=rhs, lower=is_lower, adjoint=turned)
            np.testing.assert_allclose(run(x), np.linalg.solve(matrix.T if turned else matrix, rhs), atol=1e-10)


SQUARE = matrices(2, 3, 3)
POSITIVE = matrices(2, 3, 3, positive=True)
RHS = matrices(2, 3, 2)
TALL, WIDE = matrices(2, 4, 3), matrices(2, 3, 4)


def symmetric(x):
    return (x + tf.linalg.matrix_transpose(x)) / 2


GRADIENTS = {
    "cholesky": (POSITIVE, lambda x: tf.linalg.cholesky(symmetric(x))),
    "inverse": (SQUARE, lambda x: tf.linalg.inv(x, adjoint=True)),
    "det": (SQUARE, tf.linalg.det),
    "slogdet": (SQUARE, lambda x: tf.linalg.slogdet(x)[1]),
    "solve": (SQUARE, lambda x: tf.linalg.solve(x, RHS)),
    "solve adjoint": (SQUARE, lambda x: tf.linalg.solve(x, RHS, adjoint=True)),
    "rhs": (RHS, lambda x: tf.linalg.solve(SQUARE, x)),
    "triangular": (POSITIVE, lambda x: tf.linalg.triangular_solve(x, RHS)),
    "triangular stretched": (POSITIVE[0], lambda x: tf.linalg.triangular_solve(x, RHS, lower=False, adjoint=True)),
    "lstsq tall": (TALL, lambda x: tf.raw_ops.MatrixSolveLs(matrix=x, rhs=matrices_like(TALL), l2_regularizer=0.3)),
    "lstsq wide": (WIDE, lambda x: tf.raw_ops.MatrixSolveLs(matrix=x, rhs=RHS, l2_regularizer=0.3)),
    "qr": (SQUARE, lambda x: tf.concat(tf.linalg.qr(x), -1)),
    "qr tall": (TALL, lambda x: tf.linalg.qr(x)[0]),
    "qr wide": (WIDE, lambda x: tf.linalg.qr(x)[1]),
    "svd": (TALL, lambda x: tf.linalg.svd(x, compute_uv=False)),
    "svd vectors": (TALL, lambda x: tf.abs(tf.linalg.svd(x)[1])),
    "svd wide": (WIDE, lambda x: tf.abs(tf.linalg.svd(x)[2])),
    "svd full": (WIDE, lambda x: tf.abs(tf.linalg.svd(x, full_matrices=True)[1])),
    "eigvalsh": (POSITIVE, lambda x: tf.linalg.eigvalsh(symmetric(x))),
    "eigh": (POSITIVE, lambda x: tf.abs(tf.linalg.eigh(symmetric(x))[1])),
    "sqrtm": (POSITIVE, tf.linalg.sqrtm),
    "tridiagonal": (matrices(2, 3, 5) + [[[0.]], [[0.]]] + 3 * np.array([[0.], [1], [0]]),
                    lambda x: tf.linalg.tridiagonal_solve(x, tf.constant(np.arange(20.).reshape(2, 5, 2) % 7))),
    "banded": (matrices(2, 2, 4) + [[5.], [0.]],
               lambda x: tf.raw_ops.BandedTriangularSolve(matrix=x, rhs=np.arange(8.).reshape(4, 2) % 3)),
    "banded upper": (matrices(2, 4) + [[0.], [5.]], lambda x: tf.raw_ops.BandedTriangularSolve(
        matrix=x, rhs=np.arange(16.).reshape(2, 4, 2) % 3, lower=False, adjoint=True)),
    "tridiagonal product": (matrices(2, 3, 5),
                            lambda x: tf.linalg.tridiagonal_matmul(x, np.arange(20.).reshape(2, 5, 2) % 7)),
}


def matrices_like(x):
    return np.arange(x.shape[0] * x.shape[1] * 2.).reshape(x.shape[0], x.shape[1], 2) % 5


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name):
    value, function = GRADIENTS[name]
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = function(x)
        error = tf.test.compute_gradient_error(x, value.shape, y, y.shape.as_list(), value, delta=1e-5)
        assert error < 1e-4 * max(1, np.abs(value).max())


def test_what_cannot_be_done_is_refused():
    zero = np.zeros([2, 2])
    with tf.Graph().as_default(), tf.Session() as sess:
        for y, message in [(tf.linalg.inv(zero), "Input is not invertible"),
                           (tf.linalg.solve(zero, zero), "Input matrix is not invertible"),
                           (tf.linalg.triangular_solve(zero, zero), "Input matrix is not invertible"),
                           (tf.linalg.cholesky(-np.eye(2)), "Cholesky decomposition was not successful"),
                           (tf.linalg.lu(zero)[0], "Input is not invertible"),
                           (tf.linalg.eigh(np.full([2, 2], np.nan))[0], "decomposition was not successful")]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(y)
        a = tf.placeholder(tf.float64)
        for bad in (np.zeros([2]), np.zeros([2, 3])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(tf.linalg.inv(a), {a: bad})
        assert np.isnan(sess.run(tf.linalg.svd(np.full([2, 2], np.nan), compute_uv=False))).all()
        for name in ("inv", "cholesky", "sqrtm"):
            assert sess.run(getattr(tf.linalg, name)(np.zeros([3, 0, 0]))).shape == (3, 0, 0)
        assert sess.run(tf.linalg.det(np.zeros([3, 0, 0]))).tolist() == [1, 1, 1]


def test_version_two_gives_nan_where_there_is_no_factor(version_two):
    factors = tf.linalg.cholesky([[[1.0, 2], [2, 1]], [[4, 0], [0, 9]]])
    np.testing.assert_array_equal(factors, [[[np.nan, 0], [np.nan, np.nan]], [[2, 0], [0, 3]]])
    assert np.isnan(tf.linalg.cholesky(np.complex64([[-1]])))  # 0 in TensorFlow
    x = tf.constant([[1.0, 2], [2, 1]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.cholesky(x)
    assert np.isnan(tape.gradient(y, x)).all()
    assert np.isnan(tf.linalg.logdet(x))
    assert np.isnan(tf.linalg.lstsq([[1.0, 2], [2, 4], [0, 0]], [[1.0], [1], [1]])).all()
    diagonals = tf.constant([[0.0, 0], [0, 1], [0, 0]])
    for pivoting in (False, True):
        x = tf.linalg.tridiagonal_solve(diagonals, tf.constant([1.0, 2]), "compact", partial_pivoting=pivoting)
        assert np.isnan(x).all()
    # What neither version can do.
    zero = np.zeros([2, 2])
    for call in (tf.linalg.inv, tf.linalg.lu, lambda x: tf.linalg.solve(x, x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            call(zero)


def test_version_two_divides_by_zeros_in_the_diagonal(version_two):
    a, b, inf, nan = tf.constant([[1.0, 2], [0, 0]]), tf.constant([[1.0, 2], [3, 4]]), np.inf, np.nan
    expected = {(True, True): [[nan, nan], [inf, inf]], (True, False): [[1, 2], [inf, inf]],
                (False, True): [[1, 2], [inf, nan]], (False, False): [[-inf, -inf], [inf, inf]]}
    for (lower, adjoint), x in expected.items():
        np.testing.assert_array_equal(tf.linalg.triangular_solve(a, b, lower, adjoint), x)
    np.testing.assert_array_equal(tf.linalg.cholesky_solve(a, b), [[nan, nan], [inf, inf]])


def test_matrices_that_are_not_finite(version_two):
    for bad in (np.inf, np.nan):
        assert np.isnan(tf.linalg.expm([[bad, 0], [0, 1.0]])).all()
    sign, log = tf.linalg.slogdet([[np.inf, 0], [0, -1.0]])
    assert sign.numpy() == -1 and log.numpy() == np.inf


def test_eigenvectors_of_entries_down_to_1e_32_are_orthogonal(run):
    # Their rotations have parts that are denormal.
    random = np.random.RandomState(31)
    scale, x = 10.0 ** random.uniform(-16, 0, 32), random.randn(32, 32)
    x = ((x + x.T) * scale[:, None] * scale).astype(np.float32)
    _, v = run(tf.linalg.eigh(x))
    np.testing.assert_allclose(v @ v.T, np.eye(32), atol=1e-5)


ROUND = [[4.0, 1.0, -0.5], [0.5, 3.0, 1.0], [-1.0, 0.25, 5.0]]
TALLER = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]


def eig(x):
    return tf.raw_ops.Eig(input=x, Tout=tf.complex64 if x.dtype.name in ("float32", "complex64") else tf.complex128)


def test_vectors_of_small_matrices_have_the_signs_that_tensorflow_gives_them(version_two):
    near = dict(rtol=0, atol=2e-6)
    for dtype in (np.float32, np.float64):
        _, u, v = tf.linalg.svd(np.array(ROUND, dtype))
        np.testing.assert_allclose(u, [[-0.399057, 0.779241, -0.483257], [0.151747, 0.575898, 0.803315],
                                       [0.904282, 0.247235, -0.348064]], **near)
        np.testing.assert_allclose(v, [[-0.444894, 0.732312, -0.515547], [0.051791, 0.595729, 0.801514],
                                       [0.894084, 0.329888, -0.302963]], **near)
        _, u, v = tf.linalg.svd(np.array(TALLER, dtype))
        np.testing.assert_allclose(u, [[0.216784, -0.938923], [0.490454, 0.341464], [0.844073, 0.042734]], **near)
        np.testing.assert_allclose(v, [[0.579753, 0.814792], [0.814792, -0.579753]], **near)
        _, u, v = tf.linalg.svd(np.array(TALLER, dtype).T)
        np.testing.assert_allclose(u, [[-0.579753, -0.814792], [-0.814792, 0.579753]], **near)
        np.testing.assert_allclose(v, [[-0.216784, 0.938923], [-0.490454, -0.341464], [-0.844073, -0.042734]], **near)
        q, r = tf.linalg.qr(np.array(TALLER, dtype).T)
        np.testing.assert_allclose(q, [[-0.447214, -0.894427], [-0.894427, 0.447214]], **near)
        np.testing.assert_allclose(r, [[-2.236068, -4.91935, -8.497058], [0, -0.894427, -1.341641]], **near)
    values, vectors = tf.linalg.eigh(np.array(ROUND) + np.array(ROUND).T)
    np.testing.assert_allclose(values, [4.57852, 8.578218, 10.843262], rtol=2e-6)
    np.testing.assert_allclose(vectors, [[-0.495178, -0.759666, 0.421552], [0.806532, -0.582325, -0.101994],
                                         [-0.322962, -0.28949, -0.90105]], **near)
    values, vectors = eig(np.array([[1.0, 2, 0], [-2, 1, 1], [0, 3, 1]]))
    np.testing.assert_allclose(values, [1 + 1j, 1 - 1j, 1], **near)
    np.testing.assert_allclose(vectors, [[0.534522, 0.534522, 0.447214], [0.267261j, -0.267261j, 0],
                                         [0.801784, 0.801784, 0.894427]], **near)
    values, vectors = eig(np.array([[1, 2j], [1 - 1j, 3]]))
    np.testing.assert_allclose(values, [0.182646 - 0.550251j, 3.817354 + 0.550251j], **near)
    np.testing.assert_allclose(vectors, [[-0.897047, 0.504014 + 0.26974j], [0.2468 - 0.366602j, 0.518644 - 0.635781j]],
                               **near)


def test_functions_of_matrices_that_are_not_normal(version_two):
    near = dict(rtol=0, atol=2e-6)
    x = np.array([[1.0, 2, 0], [-2, 1, 1], [0, 3, 1]])
    np.testing.assert_allclose(tf.linalg.sqrtm(x + 4 * np.eye(3)), [
        [2.280242, 0.445016, -0.022087], [-0.445016, 2.247111, 0.222508], [0.066261, 0.667524, 2.202938]], **near)
    np.testing.assert_allclose(tf.linalg.expm(x), [
        [-2.28007, 4.574711, 2.499176], [-4.574711, 1.468694, 2.287355], [-7.497527, 6.862066, 6.467045]], **near)
    np.testing.assert_allclose(tf.linalg.logm(np.array([[1, 2j], [1 - 1j, 3]])), [
        [-0.181541 - 0.760161j, -0.413173 + 1.167802j], [0.790488 - 0.377314j, 0.98626 - 0.346988j]], **near)
    for scale in (1e-3, 30.0):  # the least degree, and many squarings
        a = np.array([[0.0, scale], [-scale, 0.0]])
        np.testing.assert_allclose(tf.linalg.expm(a), [[np.cos(scale), np.sin(scale)], [-np.sin(scale), np.cos(scale)]],
                                   atol=1e-13)


def test_least_squares_of_a_singular_matrix_is_the_shortest_solution(version_two):
    a, b = np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]]), np.array([[1.0], [2], [3]])
    expected = [[2.333333], [-1.666667], [0.666667]]
    np.testing.assert_allclose(tf.linalg.lstsq(a, b, fast=False), expected, atol=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [15, 16, 33, 70])
def test_decompositions_around_the_sizes_of_blocks(version_two, dtype, n):
    x = matrices(n, n, dtype=dtype)
    close = dict(rtol=0, atol=TYPES[dtype] * n)
    for full, matrix in ((False, x), (True, x[:, :n - 3]), (True, x[:n - 3])):
        s, u, v = (t.numpy() for t in tf.linalg.svd(matrix, full_matrices=full))
        p = s.shape[0]
        np.testing.assert_allclose((u[:, :p] * s) @ adjoint(v[:, :p]), matrix, **close)
        np.testing.assert_allclose(adjoint(u) @ u, np.eye(u.shape[1]), **close)
        np.testing.assert_allclose(adjoint(v) @ v, np.eye(v.shape[1]), **close)
        np.testing.assert_allclose(s, np.linalg.svd(matrix, compute_uv=False), **close)
    values, vectors = (t.numpy() for t in eig(x))
    np.testing.assert_allclose(x @ vectors, vectors * values, **close)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, atol=1e-5)
    values, vectors = (t.numpy() for t in tf.linalg.eigh(x + adjoint(x)))
    np.testing.assert_allclose((vectors * values) @ adjoint(vectors), x + adjoint(x), **close)
    near_to_one = np.eye(n, dtype=dtype) + x / (4 * n**0.5)
    root = tf.linalg.sqrtm(near_to_one).numpy()
    np.testing.assert_allclose(root @ root, near_to_one, **close)
    if np.issubdtype(dtype, np.complexfloating):
        np.testing.assert_allclose(tf.linalg.expm(tf.linalg.logm(near_to_one)), near_to_one, **close)
