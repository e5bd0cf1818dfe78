"""Linear operators of version 2, against the matrices that they stand for."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

linalg = tf.linalg
RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def full(*shape):
    return linalg.LinearOperatorFullMatrix(RNG.normal(size=shape) + 3 * np.eye(*shape[-2:]))


def tridiagonals():
    bands = RNG.normal(size=(2, 3, 4)) + [[0], [5], [0]]
    complex_bands = bands + 1j * RNG.normal(size=bands.shape)
    dense = linalg.LinearOperatorTridiag(bands).to_dense().numpy()
    return [linalg.LinearOperatorTridiag(bands), linalg.LinearOperatorTridiag(complex_bands),
            linalg.LinearOperatorTridiag([bands[:, 0], bands[0, 1], bands[:, 2]], "sequence"),
            linalg.LinearOperatorTridiag(dense, "matrix")]


def operators():
    return tridiagonals() + [
        linalg.LinearOperatorPermutation([2, 0, 3, 1], dtype=tf.float64),
        linalg.LinearOperatorPermutation([[2, 0, 3, 1], [0, 1, 2, 3]], dtype=tf.float64),
        linalg.LinearOperatorBlockLowerTriangular([[full(1, 1)], [full(2, 1), full(2, 2)],
                                                   [full(1, 1), full(5, 1, 2), full(1, 1)]])]


@pytest.mark.parametrize("index", range(7))
def test_all_that_operators_do(index):
    operator = operators()[index]
    dense = operator.to_dense().numpy()
    assert operator.shape == dense.shape and operator.shape_tensor().numpy().tolist() == list(dense.shape)
    assert operator.is_square and operator.dtype == dense.dtype
    x = RNG.normal(size=(4, 3)).astype(dense.dtype)
    adjoint = np.conj(np.swapaxes(dense, -1, -2))
    close = np.testing.assert_allclose
    close(operator.matmul(x), dense @ x)
    close(operator.matmul(x, adjoint=True), adjoint @ x)
    close(operator.matmul(x.T, adjoint_arg=True), dense @ x)
    close(operator.matvec(x[:, 0]), dense @ x[:, 0])
    close(operator.solve(x), np.linalg.solve(dense, np.broadcast_to(x, dense.shape[:-2] + x.shape)), atol=1e-12)
    close(operator.solve(x, adjoint=True), np.linalg.solve(adjoint, np.broadcast_to(x, dense.shape[:-2] + x.shape)),
          atol=1e-12)
    column = np.broadcast_to(x[:, :1], dense.shape[:-1] + (1,))
    close(operator.solvevec(x[:, 0]), np.linalg.solve(dense, column)[..., 0], atol=1e-12)
    close(operator.determinant(), np.linalg.det(dense))
    close(operator.log_abs_determinant(), np.linalg.slogdet(dense)[1], atol=1e-12)
    close(operator.trace(), np.trace(dense, axis1=-2, axis2=-1))
    close(np.broadcast_to(operator.diag_part(), dense.shape[:-1]), np.diagonal(dense, axis1=-2, axis2=-1))
    close(operator.add_to_tensor(np.ones(dense.shape, dense.dtype)), dense + 1)
    close(operator.adjoint().to_dense(), adjoint)
    close(operator.inverse().matmul(x), operator.solve(x))
    operator.assert_non_singular()
    through = tf.function(lambda o: (o, o.matvec(x[:, 0])))(operator)  # a composite tensor
    close(through[0].to_dense(), dense)
    close(through[1], dense @ x[:, 0])


def test_the_matrices_are_right():
    np.testing.assert_array_equal(linalg.LinearOperatorPermutation([1, 2, 0]).matmul([[1.0], [2.0], [3.0]]),
                                  [[2], [3], [1]])
    bands = np.array([[1, 2, 9], [3, 4, 5], [9, 6, 7]], np.float32)
    want = [[3, 1, 0], [6, 4, 2], [0, 7, 5]]
    for operator in (linalg.LinearOperatorTridiag(bands), linalg.LinearOperatorTridiag(list(bands), "sequence"),
                     linalg.LinearOperatorTridiag(np.array(want, np.float32), "matrix")):
        np.testing.assert_array_equal(operator.to_dense(), want)
    linalg.LinearOperatorTridiag([[1.0, 2, 9], [3, 4, 5], [9, 1, 2]]).assert_self_adjoint()
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-conjugate"):
        linalg.LinearOperatorTridiag(bands).assert_self_adjoint()
    np.testing.assert_array_equal(
        linalg.LinearOperatorBlockLowerTriangular([[linalg.LinearOperatorIdentity(1)],
                                                   [linalg.LinearOperatorFullMatrix([[2.0], [3.0]]),
                                                    linalg.LinearOperatorDiag([4.0, 5.0])]]).to_dense(),
        [[1, 0, 0], [2, 4, 0], [3, 0, 5]])


def test_blocks():
    operator = operators()[-1]
    blocks = [RNG.normal(size=(n, 3)) for n in (1, 2, 1)]
    whole = np.concatenate(blocks, 0)
    np.testing.assert_allclose(operator.matmul(blocks)[2], operator.matmul(whole)[:, 3:])
    for adjoint in (False, True):
        solutions = operator.solve(blocks, adjoint=adjoint)
        back = operator.matmul(solutions, adjoint=adjoint)
        for got, want in zip(back, blocks):
            np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), atol=1e-10)
    vectors = [block[:, 0] for block in blocks]
    np.testing.assert_allclose(operator.matvec(vectors)[1], operator.matvec(whole[:, 0])[0, 1:3])
    np.testing.assert_allclose(operator.solvevec(vectors)[1], operator.solvevec(whole[:, 0])[0, 1:3])


@pytest.mark.parametrize("make, error, message", [
    (lambda: linalg.LinearOperatorPermutation([0, 2]), ValueError, "unique integers from 0 to 1"),
    (lambda: linalg.LinearOperatorPermutation([0.0]), TypeError, "integer dtype"),
    (lambda: linalg.LinearOperatorPermutation(0), ValueError, "at least 1 dimension"),
    (lambda: linalg.LinearOperatorPermutation([0], is_non_singular=False), ValueError, "always non-singular"),
    (lambda: linalg.LinearOperatorTridiag([[1.0]] * 3, "x"), ValueError, "compact, matrix, or sequence"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([]), ValueError, ">=1 operators"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([[full(1, 1), full(1, 1)]]), ValueError, "contain `1` blocks"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([[full(1, 1)], [full(2, 2), full(2, 2)]]), ValueError, "column"),
    (lambda: linalg.LinearOperatorBlockLowerTriangular([[full(1, 2)]]), ValueError, "square")])
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def batched():
    matrix = RNG.normal(size=(3, 2, 4, 4)) + 5 * np.eye(4)
    diagonal = linalg.LinearOperatorDiag(RNG.normal(size=(2, 4)) + 3)
    dense = linalg.LinearOperatorFullMatrix(matrix)
    return {
        "full": dense, "diag": linalg.LinearOperatorDiag(RNG.normal(size=(3, 2, 4))),
        "triangular": linalg.LinearOperatorLowerTriangular(matrix),
        "composition": linalg.LinearOperatorComposition([dense, diagonal]),
        "adjoint": linalg.LinearOperatorAdjoint(dense), "kronecker": linalg.LinearOperatorKronecker([diagonal, dense]),
        "update": linalg.LinearOperatorLowRankUpdate(dense, RNG.normal(size=(2, 4, 1))),
        "scaled": linalg.LinearOperatorScaledIdentity(4, RNG.normal(size=(3, 2))),
        "tridiagonal": linalg.LinearOperatorTridiag(RNG.normal(size=(3, 2, 3, 4))),
        "sequence": linalg.LinearOperatorTridiag([RNG.normal(size=(3, 2, 4))] * 3, "sequence"),
        "permutation": linalg.LinearOperatorPermutation(
            np.argsort(RNG.normal(size=(3, 2, 4)), -1).astype(np.int32), dtype=tf.float64),
        "blocks": linalg.LinearOperatorBlockLowerTriangular([[diagonal], [dense, dense]]),
        "toeplitz": linalg.LinearOperatorToeplitz(RNG.normal(size=(3, 2, 4)), RNG.normal(size=(2, 4))),
    }


@pytest.mark.parametrize("name", ["full", "diag", "triangular", "composition", "adjoint", "kronecker", "update",
                                  "scaled", "tridiagonal", "sequence", "permutation", "blocks", "toeplitz"])
def test_parts_of_a_batch(name):
    operator = batched()[name]
    dense = operator.to_dense().numpy()
    for slices in (1, (slice(None), 1), (slice(1, 3), ...), (..., 0), (2, 1), (slice(None, None, 2),)):
        part = operator[slices]
        assert type(part) is type(operator)
        inner = (slices if isinstance(slices, tuple) else (slices,))
        want = dense[inner + (() if ... in inner else (...,)) + (slice(None), slice(None))]
        np.testing.assert_allclose(part.to_dense(), want)


@pytest.mark.parametrize("make", [linalg.LinearOperatorIdentity, linalg.LinearOperatorZeros])
def test_parts_of_a_batch_that_is_only_a_shape(make):
    operator = make(3, batch_shape=[2, 4])
    for slices, shape in ((1, [4]), (slice(0, 0), [0, 4]), ((..., 2), [2]), ((slice(None), slice(1, 3)), [2, 2])):
        part = operator[slices]
        assert type(part) is make and part.shape == [*shape, 3, 3]
        np.testing.assert_array_equal(part.to_dense(), np.broadcast_to(make(3).to_dense(), [*shape, 3, 3]))


def test_products_of_multiples_of_the_identity():
    two, four = (linalg.LinearOperatorScaledIdentity(3, x, is_positive_definite=True) for x in (2.0, 4.0))
    for made, factor in ((two @ four, 8), (two.solve(four), 2)):
        assert isinstance(made, linalg.LinearOperatorScaledIdentity) and float(made.multiplier) == factor
        assert made.is_positive_definite and made.shape == [3, 3]


def test_operators_made_of_operators_are_loaded_and_generated(tmp_path):
    operator = linalg.LinearOperatorKronecker([linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]),
                                               linalg.LinearOperatorDiag([1.0, 2.0])])

    class Model(tf.Module):
        @tf.function(input_signature=[operator._type_spec])
        def call(self, x):
            return x, x.matvec(tf.ones([4]))

    want = operator.to_dense().numpy()
    tf.saved_model.save(Model(), str(tmp_path))
    same, product = tf.saved_model.load(str(tmp_path)).call(operator)
    np.testing.assert_array_equal(same.to_dense(), want)
    np.testing.assert_array_equal(product, want.sum(1))
    dataset = tf.data.Dataset.from_generator(lambda: iter([operator]), output_signature=operator._type_spec)
    np.testing.assert_array_equal(next(iter(dataset)).to_dense(), want)


def test_derivatives_by_operators_of_which_a_part_is_not_used():
    used, other = linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]), linalg.LinearOperatorIdentity(2)
    for unused, want in ((other, np.eye(2)), (linalg.LinearOperatorDiag([1.0, 2.0]), np.zeros([2, 2]))):
        operator = linalg.LinearOperatorBlockDiag([used, unused])
        with tf.GradientTape() as tape:
            tape.watch(operator)
            y = tf.reduce_sum(operator.operators[0].to_dense())
        derivative = tape.gradient(y, operator).to_dense().numpy()
        np.testing.assert_array_equal(derivative[:2, :2], np.ones([2, 2]))
        np.testing.assert_array_equal(derivative[2:, 2:], want)


def test_derivatives_by_operators():
    operator = linalg.LinearOperatorDiag([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(operator.diag)
        y = tf.reduce_sum(operator.matvec([3.0, 4.0]))
    derivative = tape.gradient(y, operator)
    assert isinstance(derivative, linalg.LinearOperatorDiag)
    np.testing.assert_array_equal(derivative.diag, [3, 4])


def test_in_loops():
    @tf.function
    def powers(operator):
        return tf.while_loop(lambda i, o: i < 3, lambda i, o: (i + 1, linalg.LinearOperatorDiag(o.diag * 2)),
                             (0, operator))[1]
    np.testing.assert_array_equal(powers(linalg.LinearOperatorDiag([1.0, 2.0])).diag, [8, 16])


def test_derivatives_of_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        operator = linalg.LinearOperatorDiag([1.0, 2.0])
        ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
        by_operator, = tf.compat.v1.gradients(operator.matvec([3.0, 4.0]), operator)
        by_ragged, = tf.compat.v1.gradients(tf.reduce_sum(ragged * ragged), ragged)
        np.testing.assert_array_equal(session.run(by_operator.diag), [3, 4])
        assert session.run(by_ragged).to_list() == [[2, 4], [6]]


def test_operators_are_modules():
    """A module that holds them finds their variables, and its checkpoints have them by TensorFlow's names."""
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0], name="scale"))
            self.parts = [tf.linalg.LinearOperatorFullMatrix(tf.Variable([[1.0]], name="matrix"))]

    with tf.Graph().as_default():
        model = Model()
        assert [v.op.name for v in model.trainable_variables] == ["matrix", "scale"]
        assert model.submodules == (model.parts[0], model.scale)
        nodes = dict(model.scale._trackable_children())
        assert set(nodes) == {"_diag", "_graph_parents"} and nodes["_diag"] is model.scale.diag
        both = tf.linalg.LinearOperatorComposition([model.scale, model.scale])
        assert both.variables == (model.scale.diag,) and both.submodules == (model.scale,)
        with both.name_scope:
            assert tf.zeros([]).op.name.startswith("LinearOperatorDiag_o_LinearOperatorDiag")


def test_blocks_along_the_diagonal_that_are_not_square(monkeypatch):
    monkeypatch.setattr("penstock._src.base.tf2.enabled", lambda: True)
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 2))
    operator = linalg.LinearOperatorBlockDiag([linalg.LinearOperatorFullMatrix(a), linalg.LinearOperatorFullMatrix(b)])
    dense = np.block([[a, np.zeros((2, 2))], [np.zeros((4, 3)), b]])
    np.testing.assert_array_equal(operator.to_dense(), dense)
    np.testing.assert_array_equal(operator.shape_tensor(), operator.shape.as_list())
    for adjoint in (False, True):
        matrix = dense.T if adjoint else dense
        x = RNG.normal(size=(matrix.shape[1], 2))
        np.testing.assert_allclose(operator.matmul(x, adjoint=adjoint), matrix @ x)
        blocks = operator.matmul(np.split(x, [2 if adjoint else 3]), adjoint=adjoint)
        np.testing.assert_allclose(np.concatenate(blocks), matrix @ x)
    np.testing.assert_allclose(operator.adjoint().to_dense(), dense.T)
    for method in ("trace", "diag_part", "determinant"):
        with pytest.raises(NotImplementedError, match="not square|not be square"):
            getattr(operator, method)()
    with pytest.raises(ValueError, match="not compatible"):
        operator.matmul([np.ones((2, 1)), np.ones((2, 1))])
    square = linalg.LinearOperatorBlockDiag([full(2, 2), full(3, 3)])
    assert isinstance(square.matmul(square), linalg.LinearOperatorBlockDiag)
    vectors = [RNG.normal(size=2), RNG.normal(size=3)]
    for got, want in zip(square.matvec(square.solvevec(vectors)), vectors):
        np.testing.assert_allclose(got, want)
