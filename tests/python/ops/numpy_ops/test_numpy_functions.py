"""`tf.experimental.numpy` gives NumPy's values, shapes and types."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

tnp = tf.experimental.numpy

A = np.arange(24).reshape(2, 3, 4) - 7
M = np.array([[4.0, -1.5, 2.25], [0.5, 3.0, -2.0]])
V = np.array([3, 1, 2])
BOOLS = np.array([True, False, True])
NAN = np.array([[1.0, np.nan], [3.0, 4.0]])
COMPLEX = np.array([1 + 2j, -3j, 4])


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def check(name, *arguments, **options):
    same(getattr(tnp, name)(*arguments, **options), getattr(np, name)(*arguments, **options), name)


def same(ours, numpys, name):
    if isinstance(numpys, (list, tuple)):
        assert len(ours) == len(numpys), name
        for a, b in zip(ours, numpys):
            same(a, b, name)
    else:
        numpys = np.asarray(numpys)
        assert np.asarray(ours).dtype == numpys.dtype, (name, ours, numpys)
        np.testing.assert_allclose(ours, numpys, rtol=1e-6, atol=1e-12, err_msg=name)


def test_functions_of_elements():
    for name in """abs absolute
            arcsinh arctan ceil cos cosh deg2rad exp exp2 expm1 fix floor isfinite isnan isinf isneginf
            isposinf isreal iscomplex negative positive rad2deg sign signbit sin sinc sinh square tan tanh around round
            logical_not cbrt real imag conj angle""".split():
        check(name, M)
        if name not in ("floor", "ceil", "fix"):  # whose results for integers NumPy 2 leaves as they are
            check(name, A)
    for name in "log log2 log10 log1p sqrt reciprocal arccosh".split():
        check(name, np.abs(M) + 1)
    for name in "arcsin arccos arctanh".split():
        check(name, M / 5)
    for name in "exp conjugate real imag angle abs iscomplex isreal".split():
        check(name, COMPLEX)
    check("around", M * 7, 1)
    check("bitwise_not", V), check("bitwise_not", BOOLS)
    assert tnp.sqrt(4).dtype == tf.float64 and tnp.sqrt(np.float32(4)).dtype == tf.float32
    assert tnp.iscomplexobj(COMPLEX) and tnp.isrealobj(M) and tnp.isscalar(3) and not tnp.isscalar(V)


def test_functions_of_two_arrays():
    for name in """add subtract multiply divide true_divide power maximum minimum equal not_equal less
            less_equal greater greater_equal logical_and logical_or logical_xor floor_divide mod remainder
            hypot""".split():
        check(name, np.abs(M), [2.0, 3, 4])
        check(name, V, np.int32(2))
    for name in "add multiply maximum minimum bitwise_and bitwise_or bitwise_xor equal divide".split():
        check(name, BOOLS, [True, True, False])
    for name in "gcd lcm bitwise_and bitwise_or bitwise_xor".split():
        check(name, [12, -18, 0], np.int64(8))
    for name in "arctan2 heaviside logaddexp logaddexp2 nextafter isclose".split():
        check(name, M, M[::-1] * 1.0)
    check("divmod", V, 2), check("clip", A, -2, 5), check("clip", A, None, 5), check("float_power", [2.0, 3.0], 2)
    check("logaddexp", np.inf, np.inf), check("isclose", NAN, NAN, equal_nan=True), check("polyval", [2, 0, 1], M)
    assert tnp.allclose(M, M + 1e-9) and tnp.array_equal(V, [3, 1, 2]) and not tnp.array_equal(V, [3, 1])
    with pytest.raises(ValueError, match="integers"):
        tnp.gcd(1.5, 2.0)
    with pytest.raises(ValueError, match="may be `None`"):
        tnp.clip(V, None, None)


def test_types_follow_numpys_rules():
    assert tnp.add(tf.constant(1), tf.constant(1.0)).dtype == tf.float64  # int32 and float32
    assert tnp.add(tf.constant(1.0), 1.5).dtype == tf.float32
    assert tnp.add(np.int8(1), np.uint8(1)).dtype == tf.int16
    assert tnp.array([1, 2.5]).dtype == tf.float64 and tnp.array([tf.constant(1), 2]).dtype == tf.int32
    assert tnp.array("text").numpy() == b"text" and tnp.zeros_like(b"x").dtype == tf.string
    assert tnp.result_type(1, np.float32) == tf.float32 and tnp.promote_types("int32", np.float32) == np.float64
    assert tnp.finfo(tf.float32).eps == np.finfo(np.float32).eps and tnp.ndarray is tf.Tensor
    assert tnp.sum(np.array([200], np.uint8)).dtype == tf.uint64 and tnp.mean(V).dtype == tf.float64


def test_reductions():
    for name in """sum prod mean amax amin max min var std all any ptp nansum nanprod cumsum cumprod argmax
            argmin""".split():
        check(name, A), check(name, A, axis=1)
        if name not in ("argmax", "argmin", "cumsum", "cumprod"):
            check(name, M, axis=-1, keepdims=True)
    check("nanmean", NAN, axis=0), check("nansum", NAN), check("count_nonzero", A, 1), check("sum", BOOLS)
    check("amax", BOOLS), check("var", M, ddof=1, axis=1), check("var", M, ddof=1, axis=(0, 1))
    check("average", A, 1, [1, 2, 3]), check("average", M, weights=np.abs(M), returned=True), check("average", V)
    check("size", A), check("trace", A, 1, 0, 2), check("sort", V), check("argsort", V, kind="stable")
    check("sort", A[:, ::-1], axis=None), check("diff", A, 2), check("diff", BOOLS)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tnp.average(M, weights=np.ones([3, 3]))


def test_products():
    check("dot", A, A.reshape(2, 4, 3)[0]), check("dot", V, V), check("dot", 3, V), check("inner", A, A[0])
    check("vdot", COMPLEX, COMPLEX), check("outer", V, M), check("matmul", A, A.reshape(2, 4, 3)), check("matmul", V, V)
    check("matmul", V, M.T), check("tensordot", A, A, axes=[[0, 1], [0, 1]]), check("kron", M, V), check("kron", V, A)
    check("cross", M, [1.0, 2, 3])
    check("einsum", "ij,kj->ik", M, [V, V])
    check("cross", np.array([[1, 2, 3], [4, 5, 6]]).T, np.array([[7, 8, 9], [1, 2, 3]]).T, axis=0)
    with pytest.raises(ValueError):
        tnp.matmul(M, M)


def test_making_arrays():
    for k in range(-4, 5):
        check("eye", 3, 4, k), check("tri", 3, 4, k), check("diag", V, k), check("diag", M, k), check("diagflat", M, k)
        check("tril", A, k), check("triu", A, k), check("diagonal", A, k, 0, 2)
    check("zeros", 3), check("ones", [2, 2], np.int8), check("identity", 2), check("full", (2, 3), V)
    check("full", [], 2)
    check("full_like", M, 3), check("zeros_like", V), check("ones_like", M, dtype=int), check("arange", 5)
    check("arange", 1, 8, 2.5), check("arange", 5, 0, -2), check("arange", 3, 0)
    check("linspace", 1, 10, 4), check("linspace", [0, 1.0], [4, 6], 5, endpoint=False, axis=1)
    check("linspace", 0, 9, 4, dtype=int), check("linspace", 0, 1, 3, retstep=True), check("logspace", 0, 3, 4)
    assert all(tnp.linspace(0, 1, 3, dtype=d).dtype == tf.float32 for d in (tf.float32, np.float32, "float32"))
    check("geomspace", 1, 1000, 4), check("geomspace", -2.0, -32.0, 5), check("vander", V), check("vander", V, 2, True)
    check("meshgrid", V, [5, 6], indexing="ij"), check("empty", [0]), check("ix_", V, BOOLS)
    np.testing.assert_array_equal(tnp.diag_indices(3, 3), np.diag_indices(3, 3))  # int32, as in TensorFlow
    np.testing.assert_array_equal(tnp.array(5, ndmin=3), [[[5]]])
    with pytest.raises(ValueError, match="non-zero"):
        tnp.arange(1, 2, 0)
    with pytest.raises(ValueError, match="ndmin"):
        tnp.array(5, ndmin=33)


def test_shapes():
    check("ravel", A), check("reshape", A, (4, -1)), check("reshape", A, 24, order="F"), check("transpose", A)
    check("transpose", A, (1, 0, 2)), check("swapaxes", A, 0, -1), check("moveaxis", A, (0, 1), (-1, 0))
    check("expand_dims", V, 1), check("squeeze", A[:1]), check("broadcast_to", V, (2, 3)), check("atleast_1d", 1, V)
    check("atleast_2d", V, A), check("atleast_3d", 1, V, M, A), check("pad", M, [[1, 0], [0, 2]], "reflect")
    check("pad", V, [[1, 2]], "symmetric")
    check("repeat", M, 2), check("repeat", M, [1, 3], 0), check("repeat", M, [2], 1), check("tile", M, (2, 1, 2))
    check("flip", A), check("flip", A, -1), check("flipud", M), check("fliplr", M), check("roll", M, 2)
    check("roll", M, 1, 1), check("concatenate", [V, [1.5]]), check("append", M, V), check("stack", [V, V * 0.5], 1)
    check("vstack", [V, M]), check("hstack", [V, 1]), check("hstack", [M, M]), check("dstack", [V, V])
    check("broadcast_arrays", V, M), check("split", A, 2), check("split", V, [1, 5]), check("vsplit", M, 2)
    check("hsplit", V, 3), check("hsplit", M, [1]), check("dsplit", A, 2)
    for k in range(4):
        check("rot90", A, k, (0, 2))
    assert tnp.shape(A) == (2, 3, 4) and tnp.ndim(A) == 3
    np.testing.assert_array_equal(tnp.flatten(M, "F"), M.flatten("F"))
    with pytest.raises(ValueError, match="equal division"):
        tnp.hsplit(M, 2)
    with pytest.raises(ValueError, match="smaller than the previous"):
        tnp.split(V, [2, 1])


def test_picking():
    check("where", M > 0), check("where", M > 0, M, 0), check("nonzero", A), check("compress", [True, False], A, 1)
    check("compress", [False, True], M), check("take", A, [0, 2], 1), check("take", A, [5, -30], mode="wrap")
    check("select", [M > 1, M > 0], [M, M * 2], -1), check("take_along_axis", A, np.argsort(-A, 2)[:, :1], 2)
    np.testing.assert_array_equal(tnp.take_along_axis(M, np.array([1, -1]), None), [-1.5, -2.0])
    with pytest.raises(ValueError, match="both"):
        tnp.where(M > 0, M)


def test_in_functions_of_unknown_shape():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64)])
    def f(x):
        return tnp.ravel(x), tnp.sum(x, 0), tnp.sin(x), tnp.tile(x, 2), tnp.flip(x), tnp.swapaxes(x, 0, 1)
    same(f(M), [np.ravel(M), np.sum(M, 0), np.sin(M), np.tile(M, 2), np.flip(M), M.T], "function")

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def g(x):
        return tnp.diagonal(x, 1), tnp.vander(x[0]), tnp.kron(x, x), tnp.take(x, [1], 1), tnp.rot90(x)
    same(g(M), [np.diagonal(M, 1), np.vander(M[0]), np.kron(M, M), np.take(M, [1], 1), np.rot90(M)], "function")


def test_random():
    tnp.random.seed(5)
    first = tnp.random.randn(2, 3)
    tnp.random.seed(5)
    np.testing.assert_array_equal(first, tnp.random.standard_normal((2, 3)))
    assert first.dtype == tf.float64 and tnp.random.rand(4).shape == [4] and tnp.random.random().shape == []
    drawn = tnp.random.uniform([0.0, 10.0], [1.0, 12.0]).numpy()
    assert 0 <= drawn[0] < 1 and 10 <= drawn[1] < 12
    whole = tnp.random.randint(3, 6, 100)
    assert whole.dtype == tf.int64 and set(whole.numpy()) == {3, 4, 5}
    assert tnp.random.poisson(2.0, 5).dtype == tf.int64
    with pytest.raises(ValueError, match="dtype"):
        tnp.random.randint(3, dtype=np.int8)
