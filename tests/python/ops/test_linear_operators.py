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


def norm2(v):
    return (np.abs(v) ** 2).sum(-1)[:, None, None]


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
    blocks = np.zeros((2, 4, 4), dtype)
    blocks[:, 0, 0], blocks[:, 1:, 1:] = d[:, 0], m
    yield L.LinearOperatorBlockDiag([L.LinearOperatorDiag(d[:, :1]), L.LinearOperatorFullMatrix(m)]), blocks
    small, row = m[0, :2, :2] + 2 * np.eye(2), t[:, 0]
    product = L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(m, is_non_singular=True),
                                         L.LinearOperatorFullMatrix(small, is_non_singular=True)])
    yield product, np.stack([np.kron(a, small) for a in m])
    yield L.LinearOperatorHouseholder(d), np.eye(3) - 2 * d[..., None] * d[:, None].conj() / norm2(d)
    u, v = values(2, 3, 2, dtype=dtype), values(2, 3, 2, dtype=dtype)
    yield L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(d), u, row[:, :2], v), \
        diag(d) + u @ diag(row[:, :2]) @ adjoint(v)
    column = np.stack([np.full_like(d[:, 0], 9), d[:, 0], d[:, 1]], axis=-1)
    yield L.LinearOperatorCirculant(np.fft.fft(column), input_output_dtype=dtype), np.stack(
        [np.stack([np.roll(c, i) for i in range(3)], axis=-1) for c in column])
    grid = values(2, 2, 3, dtype=dtype) + 9 * (np.arange(6).reshape(2, 3) == 0)
    places = [(i, j) for i in range(2) for j in range(3)]
    yield L.LinearOperatorCirculant2D(np.fft.fft2(grid), input_output_dtype=dtype), np.stack(
        [[[g[(a - c) % 2, (b - d) % 3] for c, d in places] for a, b in places] for g in grid])
    yield L.LinearOperatorToeplitz(column, np.concatenate([column[:, :1], row[:, 1:]], axis=1)), np.stack(
        [[[c[i - j] if i >= j else r[j - i] for j in range(3)] for i in range(3)] for c, r in zip(column, row)])


@pytest.mark.parametrize("which", range(15))
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_as_dense(which, dtype):
    with tf.Graph().as_default(), tf.Session() as sess:
        op, matrix = list(operators(dtype))[which]
        n = matrix.shape[-1]
        x, y = values(2, n, 4, dtype=dtype), values(2, n, n, dtype=dtype)
        assert op.shape == [2, n, n] and op.is_square and op.domain_dimension == n
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
            "add": (op.add_to_tensor(y), matrix + y),
            "shape": (op.shape_tensor(), [2, n, n]),
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


def test_functions_of_matrices_take_operators():
    m, x = values(2, 2, dtype=np.complex128), values(3, 2, 2, dtype=np.complex128)
    with tf.Graph().as_default(), tf.Session() as sess:
        op = L.LinearOperatorFullMatrix(m, is_square=True)
        expected = [
            (tf.matmul(op, x, adjoint_a=True), adjoint(m) @ x), (tf.matmul(x, op, adjoint_b=True), x @ adjoint(m)),
            (L.solve(op, x), np.linalg.solve(m, x)), (L.det(op), np.linalg.det(m)), (L.trace(op), np.trace(m)),
            (L.adjoint(op).to_dense(), adjoint(m)), (L.inv(op).to_dense(), np.linalg.inv(m)),
            (L.diag_part(op), np.diag(m)), (L.logdet(op), np.log(abs(np.linalg.det(m))))]
        for tensor, value in expected:
            np.testing.assert_allclose(sess.run(tensor), value, rtol=1e-9)
        with pytest.raises(ValueError, match="Transposing"):
            tf.matmul(op, x, transpose_a=True)
        wide, tall = L.LinearOperatorFullMatrix(np.ones((2, 3))), L.LinearOperatorFullMatrix(np.ones((3, 2)))
        assert wide.matmul(tall).is_square is True
        assert wide.matmul(L.LinearOperatorFullMatrix(np.ones((3, 4)))).is_square is False


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


def test_operators_of_unknown_shape():
    m, small = values(2, 3, 3, dtype=np.float64), values(2, 2, dtype=np.float64)
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b, x = (tf.placeholder(tf.float64) for _ in range(3))
        one, two = L.LinearOperatorFullMatrix(a, is_square=True), L.LinearOperatorFullMatrix(b, is_square=True)
        blocks, product = L.LinearOperatorBlockDiag([one, two]), L.LinearOperatorKronecker([one, two])
        circulant = L.LinearOperatorCirculant(b, input_output_dtype=tf.float64)
        feed = {a: m, b: small}
        assert sess.run(blocks.shape_tensor(), feed).tolist() == [2, 5, 5]
        assert sess.run(product.shape_tensor(), feed).tolist() == [2, 6, 6]
        for op in blocks, product:
            columns = values(1, op.shape_tensor().eval(feed)[-1], 2, dtype=np.float64)
            dense, result = sess.run([op.to_dense(), op.matmul(x)], {**feed, x: columns})
            np.testing.assert_allclose(result, dense @ columns, rtol=1e-9)
        first = np.fft.ifft(small[0]).real
        np.testing.assert_allclose(sess.run(circulant.to_dense(), feed)[0], [first, first[::-1]], rtol=1e-9)


def test_operators_made_of_operators():
    d = values(3, dtype=np.float64)
    with tf.Graph().as_default(), tf.Session() as sess:
        positive = dict(is_positive_definite=True)
        both = [L.LinearOperatorDiag(x, **positive) for x in (np.abs(d), np.array([4.0, 9.0]))]
        for kind in L.LinearOperatorBlockDiag, L.LinearOperatorKronecker:
            op = kind(both)
            assert isinstance(op.inverse(), kind) and isinstance(op.cholesky(), kind) and op.adjoint() is op
            factor, dense = sess.run([op.cholesky().to_dense(), op.to_dense()])
            np.testing.assert_allclose(factor @ factor.T, dense)
        with pytest.raises(ValueError, match="always non-singular"):
            L.LinearOperatorKronecker(both, is_non_singular=False)
        with pytest.raises(ValueError, match="square matrices"):
            L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(np.ones((2, 3)))])
        turn = L.LinearOperatorCirculant([1.0, 2.0])
        product = turn.matmul(turn)
        assert isinstance(product, L.LinearOperatorCirculant) and sess.run(product.spectrum).tolist() == [1, 4]
        assert sess.run(turn.convolution_kernel()).tolist() == [1.5, -0.5]
        sess.run([turn.assert_hermitian_spectrum(), turn.assert_non_singular(), turn.assert_positive_definite()])
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            L.LinearOperatorCirculant2D([1.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Singular operator"):
            sess.run(L.LinearOperatorCirculant([1.0, 0.0]).assert_non_singular())


def test_low_rank_updates_of_positive_operators():
    u, d = values(3, 2, dtype=np.float64), np.array([1.0, 2.0, 3.0])
    with tf.Graph().as_default(), tf.Session() as sess:
        op = L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(d, is_positive_definite=True), u)
        dense = np.diag(d) + u @ u.T
        assert op.is_positive_definite and op.is_self_adjoint
        found = sess.run([op.solve(np.eye(3)), op.determinant(), op.log_abs_determinant()])
        for value, expected in zip(found, [np.linalg.inv(dense), np.linalg.det(dense), np.log(np.linalg.det(dense))]):
            np.testing.assert_allclose(value, expected, rtol=1e-9)
        with pytest.raises(ValueError, match="not compatible"):
            L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(d), np.ones((4, 2)))


def test_sums_of_operators_stay_as_cheap_as_they_can():
    from penstock._src.ops.linear_operators import linear_operator_addition as addition
    with tf.Graph().as_default(), tf.Session() as sess:
        lower = L.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]])
        diagonal = L.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
        identity, scaled = L.LinearOperatorIdentity(2), L.LinearOperatorScaledIdentity(2, 3.0)
        full = L.LinearOperatorFullMatrix([[0.0, 1.0], [1.0, 0.0]])
        name = "Add/LinearOperatorIdentity__LinearOperatorDiag/"
        for operators, kind, expected_name, positive, dense in [
                ([diagonal, identity], L.LinearOperatorDiag, name, True, [[2, 0], [0, 3]]),
                ([identity, scaled], L.LinearOperatorScaledIdentity,
                 "Add/LinearOperatorIdentity__LinearOperatorScaledIdentity/", None, [[4, 0], [0, 4]]),
                ([lower, diagonal], L.LinearOperatorLowerTriangular,
                 "Add/LinearOperatorLowerTriangular__LinearOperatorDiag/", None, [[2, 0], [2, 5]]),
                ([lower, diagonal, identity, full], L.LinearOperatorFullMatrix,
                 f"Add/LinearOperatorFullMatrix__Add/LinearOperatorLowerTriangular__{name}//", None, [[3, 1], [3, 6]])]:
            total, = addition.add_operators(operators)
            assert type(total) is kind and total.name == expected_name and total.is_positive_definite is positive
            assert sess.run(total.to_dense()).tolist() == dense
        kept = addition.add_operators([lower, diagonal, identity], addition_tiers=[[addition._AddAndReturnDiag()]])
        assert [type(op) for op in kept] == [L.LinearOperatorLowerTriangular, L.LinearOperatorDiag]
        with pytest.raises(ValueError, match="at least one operator"):
            addition.add_operators([])
        with pytest.raises(TypeError, match="only LinearOperator instances"):
            addition.add_operators([diagonal, 3])
        with pytest.raises(ValueError, match=r"same `domain_dimension`. Received: \[\('LinearOperatorIdentity', 3\)"):
            addition.add_operators([diagonal, L.LinearOperatorIdentity(3)])


def test_operators_are_made_of_tensors():
    import penstock.v2 as tf2
    from penstock._src.graph.context import eager_mode
    from penstock._src.ops.state import variable_utils
    from penstock._src.ops.linear_operators import base
    from penstock._src.base import nest
    with eager_mode():
        diagonal = L.LinearOperatorDiag([1.0, 2.0])
        assert repr(diagonal._type_spec) == (
            "LinearOperatorDiagSpec({'diag': TensorSpec(shape=(2,), dtype=tf.float32, name=None)}, "
            "{'is_non_singular': None, 'is_self_adjoint': True, 'is_positive_definite': None, 'is_square': True}, ())")
        assert diagonal.parameters == {"diag": [1.0, 2.0], "name": "LinearOperatorDiag", **dict.fromkeys(
            ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"))}
        identity = L.LinearOperatorIdentity(3)._type_spec
        assert not identity._component_specs and identity._non_tensor_params["num_rows"] == 3
        both = L.LinearOperatorComposition([diagonal, L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])])
        assert [x.shape.as_list() for x in nest.flatten(both, expand_composites=True)] == [[2], [2, 2]]
        transposed = tf2.function(lambda op: op.adjoint())(both)
        np.testing.assert_array_equal(transposed.to_dense().numpy(), [[1, 6], [2, 8]])
        dataset = tf2.data.Dataset.from_tensors(diagonal)
        assert next(iter(dataset)).to_dense().numpy().tolist() == [[1, 0], [0, 2]]
        variable = tf2.Variable([1.0, 2.0])
        read = variable_utils.convert_variables_to_tensors({"a": variable, "b": [L.LinearOperatorDiag(variable), 3]})
        assert isinstance(read["a"], tf.Tensor) and isinstance(read["b"][0].diag, tf.Tensor) and read["b"][1] == 3
        assert variable_utils.replace_variables_with_atoms([variable, 1.0]) == [0, 1.0]

        @base.make_composite_tensor
        class Doubled(L.LinearOperatorDiag):
            def _diag_part(self):
                return 2 * self.diag
        assert type(tf2.function(lambda op: op)(Doubled([1.0]))) is Doubled
