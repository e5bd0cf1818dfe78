"""Linear operators against the dense matrices that they stand for."""
import numpy as np
import pytest

import penstock.v1 as tf

RNG = np.random.RandomState(0)
L = tf.linalg


def values(*shape, dtype):
    x = RNG.uniform(1, 2, size=shape) * RNG.choice([-1, 1], size=shape)
    return (x + 1j * RNG.uniform(1, 2, size=shape) if dtype == np.complex128 else x).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def diag(d):
    return d[..., None] * np.eye(d.shape[-1])


def operators(dtype):
    d, m, t = values(2, 3, dtype=dtype), values(2, 3, 3, dtype=dtype) + 3 * np.eye(3), values(2, 3, 3, dtype=dtype)
    scale = values(2, dtype=dtype)
    yield L.LinearOperatorDiag(d), diag(d)
    yield L.LinearOperatorFullMatrix(m), m
    yield L.LinearOperatorLowerTriangular(t), np.tril(t)
    yield L.LinearOperatorIdentity(3, [2], dtype=dtype), np.stack([np.eye(3)] * 2).astype(dtype)
    yield L.LinearOperatorScaledIdentity(3, scale), scale[:, None, None] * np.eye(3)
    both = L.LinearOperatorComposition([L.LinearOperatorFullMatrix(m), L.LinearOperatorLowerTriangular(t)])
    yield both, m @ np.tril(t)
    yield L.LinearOperatorFullMatrix(m).adjoint(), adjoint(m)
    yield L.LinearOperatorFullMatrix(m).inverse(), np.linalg.inv(m)


@pytest.mark.parametrize("which", range(8))
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_as_dense(which, dtype):
    with tf.Graph().as_default(), tf.Session() as sess:
        op, matrix = list(operators(dtype))[which]
        x = values(2, 3, 4, dtype=dtype)
        assert op.shape == [2, 3, 3] and op.is_square and op.domain_dimension == 3
        expected = {
            "to_dense": (op.to_dense(), matrix), "adjoint": (op.H.to_dense(), adjoint(matrix)),
            "matmul": (op.matmul(x), matrix @ x), "adjoint product": (op.matmul(x, adjoint=True), adjoint(matrix) @ x),
            "of adjoint": (op.matmul(adjoint(x), adjoint_arg=True), matrix @ x),
            "matvec": (op.matvec(x[..., 0]), (matrix @ x)[..., 0]),
            "solve": (op.solve(x), np.linalg.solve(matrix, x)),
            "adjoint solve": (op.solve(x, adjoint=True), np.linalg.solve(adjoint(matrix), x)),
            "solvevec": (op.solvevec(x[..., 0]), np.linalg.solve(matrix, x)[..., 0]),
            "inverse": (op.inverse().to_dense(), np.linalg.inv(matrix)),
            "determinant": (op.determinant(), np.linalg.det(matrix)),
            "log": (op.log_abs_determinant(), np.log(np.abs(np.linalg.det(matrix)))),
            "trace": (op.trace(), np.trace(matrix, axis1=1, axis2=2)),
            "diag_part": (op.diag_part(), np.diagonal(matrix, axis1=1, axis2=2)),
            "add": (op.add_to_tensor(x[..., :3]), matrix + x[..., :3]),
            "shape": (op.shape_tensor(), [2, 3, 3]),
        }
        for name, (tensor, value) in expected.items():
            np.testing.assert_allclose(sess.run(tensor), value, rtol=1e-9, atol=1e-9, err_msg=name)


def test_products_of_operators():
    d, m = values(3, dtype=np.float64), values(3, 3, dtype=np.float64)
    with tf.Graph().as_default(), tf.Session() as sess:
        one, two, full = L.LinearOperatorDiag(d), L.LinearOperatorDiag(d * d), L.LinearOperatorFullMatrix(m)
        assert isinstance(one.matmul(two), L.LinearOperatorDiag)
        np.testing.assert_allclose(sess.run(one.matmul(two).to_dense()), np.diag(d ** 3))
        np.testing.assert_allclose(sess.run(one.matmul(full).to_dense()), np.diag(d) @ m)
        assert isinstance(one.matmul(L.LinearOperatorLowerTriangular(m)), L.LinearOperatorLowerTriangular)
        assert one.matmul(L.LinearOperatorIdentity(3, dtype=tf.float64)) is one
        zeros = L.LinearOperatorZeros(3, dtype=tf.float64)
        assert not sess.run(one.matmul(zeros).to_dense()).any()
        positive = L.LinearOperatorDiag(np.abs(d), is_positive_definite=True)
        np.testing.assert_allclose(sess.run(positive.cholesky().diag_part()), np.sqrt(np.abs(d)))


def test_hints_and_bad_arguments():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="always self adjoint"):
            L.LinearOperatorDiag([1.0], is_self_adjoint=False)
        with pytest.raises(ValueError, match="always square"):
            L.LinearOperatorFullMatrix(np.eye(2), is_non_singular=True, is_square=False)
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            L.LinearOperatorFullMatrix([1.0])
        with pytest.raises(TypeError, match="to have dtype"):
            L.LinearOperatorDiag([1.0]).matmul(np.eye(1))
        with pytest.raises(NotImplementedError, match="expected to be singular"):
            L.LinearOperatorDiag([1.0], is_non_singular=False).solve([[1.0]])
        with pytest.raises(ValueError, match="Not a positive definite"):
            L.LinearOperatorFullMatrix(np.eye(2)).cholesky()
        with pytest.raises(ValueError, match="incompatible"):
            L.LinearOperatorIdentity(2).matmul(L.LinearOperatorIdentity(3))
