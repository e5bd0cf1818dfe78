"""Arithmetic, reductions and products against NumPy, and the checks they make when the graph is built."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context


def run(build):
    """The values of what `build` makes in a new graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


A = np.array([[1.5, -2.0, 3.0], [4.0, 5.5, -6.0]])
K = np.array([7, -7, 5], np.int32)


def check(build, *wanted):
    got = run(build)
    assert len(got) == len(wanted)
    for value, expected in zip(got, wanted):
        np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_operators_follow_python():
    def build():
        x, k = tf.constant(A), tf.constant(K)
        return [x + 1, 2 - x, x * x, x / 2, k / 2, k // 2, k % 3, x % 2, -x, abs(x), x ** 2, 2 ** x, x > 0, ~(x > 0),
                (x > 0) & (x < 4), (x > 0) ^ (x < 4), [1.0, 2.0, 3.0] * x]

    check(build, A + 1, 2 - A, A * A, A / 2, K / 2, K // 2, K % 3, A % 2, -A, abs(A), A ** 2, 2 ** A, A > 0, ~(A > 0),
          (A > 0) & (A < 4), (A > 0) ^ (A < 4), A * [1, 2, 3])


def test_kinds_of_division():
    check(lambda: [tf.div(K, 2), tf.truncatediv(K, 2), tf.truncatemod(K, 3), tf.floormod(K, 3), tf.truediv(K, 2),
                   tf.div_no_nan(tf.constant([1.0, 2.0]), [0.0, 4.0])],
          K // 2, [3, -3, 2], np.fmod(K, 3), K % 3, K / 2, [0, 0.5])
    with tf.Graph().as_default():
        assert tf.truediv(tf.constant(K), 2).dtype == tf.float64
        assert tf.truediv(tf.constant([1], tf.int8), tf.constant([1], tf.int8)).dtype == tf.float32


@pytest.mark.parametrize("name, numpy", [
    ("sum", np.sum), ("mean", np.mean), ("prod", np.prod), ("min", np.min), ("max", np.max),
    ("logsumexp", lambda x, **how: np.log(np.sum(np.exp(x), **how)))])
def test_reductions(name, numpy):
    reduce = getattr(tf, "reduce_" + name)
    check(lambda: [reduce(A), reduce(A, 0), reduce(A, axis=-1), reduce(A, [0, 1], keepdims=True),
                   reduce(A, reduction_indices=1, keep_dims=True)],
          numpy(A), numpy(A, axis=0), numpy(A, axis=-1), numpy(A, axis=(0, 1), keepdims=True),
          numpy(A, axis=1, keepdims=True))


def test_other_reductions():
    check(lambda: [tf.math.reduce_std(A, 1), tf.math.reduce_variance(A), tf.count_nonzero([[0, 1], [2, 3]], 1),
                   tf.argmax(A, 1), tf.argmin(A), tf.cumsum(A, 1, exclusive=True), tf.cumprod(A, reverse=True),
                   tf.bincount([1, 1, 3]), tf.add_n([A, A, A]), tf.norm(A), tf.norm(A, 1, axis=1),
                   tf.clip_by_value(A, -1, 2)],
          A.std(1), A.var(), [1, 2], A.argmax(1), A.argmin(0), A.cumsum(1) - A, A[::-1].cumprod(0)[::-1],
          [0, 2, 0, 1], 3 * A, np.linalg.norm(A), abs(A).sum(1), A.clip(-1, 2))


def test_global_norm():
    clipped, norm = run(lambda: tf.clip_by_global_norm([A, K.astype(np.float64), None][:2], 1.0))
    wanted = np.sqrt((A ** 2).sum() + (K.astype(float) ** 2).sum())
    np.testing.assert_allclose(norm, wanted)
    np.testing.assert_allclose(clipped[0], A / wanted)


def test_products():
    batch = np.arange(24.0).reshape(2, 3, 4)
    c = A + 1j
    check(lambda: [tf.matmul(A, A, transpose_b=True), tf.matmul(A, A, adjoint_a=True), tf.matmul(c, c, adjoint_b=True),
                   tf.matmul(batch, batch, transpose_b=True), tf.tensordot(batch, A, [[1], [1]]),
                   tf.einsum("bij,ki->bjk", tf.constant(batch), tf.constant(A)),
                   tf.einsum("...ij->...ji", tf.constant(batch)), tf.linalg.matvec(A, np.array([1.0, 2.0, 3.0]))],
          A @ A.T, A.T @ A, c @ c.conj().T, batch @ batch.transpose(0, 2, 1), np.tensordot(batch, A, [[1], [1]]),
          np.einsum("bij,ki->bjk", batch, A), np.einsum("...ij->...ji", batch), A @ [1, 2, 3])


def test_casts():
    with tf.Graph().as_default():
        x = tf.constant([1.5])
        assert tf.cast(x, tf.float32) is x
        assert tf.to_int32(x).dtype == tf.int32
        assert tf.cast(tf.SparseTensor([[0]], [1.5], [1]), tf.int64).dtype == tf.int64
    check(lambda: [tf.saturate_cast([-5.0, 300.0], tf.uint8), tf.cast([1.9, -1.9], tf.int32)], [0, 255], [1, -1])


CASTS = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
         "uint64", "bool", "complex64", "complex128"]


@pytest.mark.parametrize("source", CASTS)
def test_casts_of_every_pair(source):
    # More than a block of the kernel, and no multiple of a vector.
    given = np.array([0, 1, 3, 7.25, 100, 127] * 101 + [2])
    with context.eager_mode():
        x = tf.cast(tf.constant(given), source)
        plain = tf.cast(x, tf.float64).numpy()
        wanted = given != 0 if source == "bool" else np.trunc(given) if "int" in source else given
        np.testing.assert_array_equal(plain, wanted)
        for target in CASTS:
            y = tf.cast(x, target)
            assert y.dtype == target
            wanted = plain != 0 if target == "bool" else np.trunc(plain) if "int" in target else plain
            np.testing.assert_array_equal(tf.cast(y, tf.float64).numpy(), wanted, f"{source} to {target}")


def test_casts_beyond_the_range_give_the_lowest_integer():
    given = np.array([np.nan, np.inf, -np.inf, 300, -129, 40000, 3e9, -3e9, 1e19, -0.75] * 30)
    lowest = -2**31
    with context.eager_mode():
        for source in ("float32", "float64", "complex64"):
            x = tf.cast(tf.constant(given), source)
            assert tf.cast(x, tf.int32).numpy()[-10:].tolist() == [
                lowest, lowest, lowest, 300, -129, 40000, lowest, lowest, lowest, 0]
            assert tf.cast(x, tf.int64).numpy()[:10].tolist() == [
                -2**63, -2**63, -2**63, 300, -129, 40000, 3 * 10**9, -3 * 10**9, -2**63, 0]
            assert tf.cast(x, tf.bool).numpy().all()
        zeros = tf.constant([0j, 1j, 1.0, -0.0j] * 9)
        assert tf.cast(zeros, tf.bool).numpy().tolist() == [False, True, True, False] * 9


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_logarithms_and_quotients_of_complex_numbers(dtype):
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((2, 700)) + 1j * rng.standard_normal((2, 700))).astype(dtype)
    x[::50] = 0
    close = {"rtol": 1e-5 if dtype == "complex64" else 1e-13, "atol": 1e-6 if dtype == "complex64" else 1e-14}
    circle = np.exp(1j * x.real).astype(dtype)
    with context.eager_mode():
        for z in (y, circle, y * 1e-9, y * 1e9):
            np.testing.assert_allclose(tf.math.log(z).numpy(), np.log(z), **close)
            np.testing.assert_allclose(tf.math.reciprocal(z).numpy() * z, 1, **close)
        np.testing.assert_allclose((tf.constant(x) / y).numpy(), x / y, **close)
        np.testing.assert_allclose(tf.math.xdivy(x, y).numpy(), x / y, **close)
        np.testing.assert_allclose(tf.math.xlogy(x, y).numpy(), x * np.log(y), **close)
        wanted = np.divide(y, x, np.zeros_like(x), where=x != 0)
        np.testing.assert_allclose(tf.math.divide_no_nan(y, x).numpy(), wanted, **close)
        # Numbers whose squares are infinite, vanish, or are not numbers
        large = np.array([3e30 + 4e30j, 3e-30 - 4e-30j], dtype)
        large = large if dtype == "complex64" else np.array([3e200 + 4e200j, 3e-200 - 4e-200j])
        np.testing.assert_allclose(tf.math.log(large).numpy(), np.log(large), **close)
        np.testing.assert_allclose((tf.constant(large) / large).numpy(), 1, **close)
        nothing = np.array([0, 0], dtype)
        assert tf.math.xdivy(nothing, nothing).numpy().tolist() == [0, 0]
        assert tf.math.divide_no_nan(np.array([np.nan, 1], dtype), nothing).numpy().tolist() == [0, 0]
        assert np.isnan(tf.math.log(np.array([np.nan], dtype)).numpy()).all()


@pytest.mark.parametrize("name, numpy", [
    ("abs", np.abs), ("negative", np.negative), ("sign", np.sign), ("square", np.square), ("tanh", np.tanh)])
def test_functions_of_sparse_tensors(name, numpy):
    def build():
        x = getattr(tf, name)(tf.SparseTensor([[0, 1], [1, 0]], [-4.0, 0.25], [2, 2]))
        assert isinstance(x, tf.SparseTensor)
        return [x.values]

    check(build, numpy([-4.0, 0.25]))


def test_ranges():
    check(lambda: [tf.range(5), tf.range(1, 4, 0.5), tf.linspace(0.0, 1.0, 3)], range(5), np.arange(1, 4, 0.5),
          [0, 0.5, 1])
    with tf.Graph().as_default():
        assert tf.range(1, tf.constant(4, tf.int64)).dtype == tf.int64
        assert tf.range(1, 4.0).dtype == tf.float32


@pytest.mark.parametrize("build, error, message", [
    (lambda x: tf.matmul(x, x, transpose_a=True, adjoint_a=True), ValueError, "Only one of transpose_a and adjoint_a"),
    (lambda x: tf.truediv(x, tf.constant(1)), TypeError, "must have the same dtype"),
    (lambda x: tf.truediv("a", "b"), TypeError, "Invalid dtype"),
    (lambda x: tf.scalar_mul([1.0], x), ValueError, "Only scalar multiply works"),
    (lambda x: tf.complex(x, tf.constant(1)), TypeError, "incorrect types"),
    (lambda x: tf.add_n([]), ValueError, "at least one"),
    (lambda x: tf.accumulate_n([x, tf.constant(1)]), ValueError, "at least one Tensor"),
    (lambda x: tf.tensordot(x, x, -1), ValueError, "at least 0"),
    (lambda x: tf.tensordot(x, x, [[0, 1], [0]]), ValueError, "Different number"),
    (lambda x: tf.einsum("ij,jk->ik", x), ValueError, "Got 1 arguments"),
    (lambda x: tf.einsum("i!j->ij", x), ValueError, "incorrect format"),
    (lambda x: tf.einsum("ij->ijk", x), ValueError, "Invalid equation"),
    (lambda x: tf.reduce_sum(x, 0, reduction_indices=0), ValueError, "Cannot specify both"),
    (lambda x: tf.reduce_sum(x, keepdims=True, keep_dims=True), ValueError, "Cannot specify both"),
    (lambda x: tf.norm(x, "fro"), ValueError, "supported vector norm"),
    (lambda x: tf.norm(x, axis=[0, 0]), ValueError, "2 unique integers"),
    (lambda x: tf.clip_by_global_norm(x, 1.0), TypeError, "sequence"),
    (lambda x: tf.sort(x, direction="UP"), ValueError, "should be one of"),
])
def test_refused_when_built(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build(tf.constant(A, tf.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64])
@pytest.mark.parametrize("special", [0, np.nan, np.inf, -np.inf])
def test_extremes_of_rows_of_all_lengths(dtype, special):
    rng = np.random.default_rng(0)
    if special and np.dtype(dtype).kind == "i":
        return
    with context.eager_mode():
        for n in [*range(1, 35), 63, 64, 65, 127, 300]:
            x = (rng.standard_normal((3, n)) * 50).astype(dtype)
            if special:
                x[0, rng.integers(n)] = special
                x[2] = special
            np.testing.assert_array_equal(tf.reduce_max(x, 1), x.max(1))
            np.testing.assert_array_equal(tf.reduce_min(x, 1), x.min(1))
            if not np.isnan(special):
                np.testing.assert_array_equal(tf.argmax(x, 1)[:2], x[:2].argmax(1))
                np.testing.assert_array_equal(tf.nn.top_k(x, 1)[1][:, 0], x.argmax(1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("width", [1, 3, 7, 8])
def test_segments_of_many_short_rows(dtype, width):
    n = 60000 if dtype == "int32" else 500
    rng = np.random.RandomState(0)
    data, ids = rng.randint(1, 4, (n, width)).astype(dtype), rng.randint(-1, 40, n)
    expected = np.zeros([40, width], dtype)
    np.add.at(expected, ids[ids >= 0], data[ids >= 0])
    ascending = np.sort(np.maximum(ids, 0))
    of_ascending = np.zeros([40, width], dtype)
    np.add.at(of_ascending, ascending, data)
    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.math.unsorted_segment_sum(data, ids, 40)), expected)
        np.testing.assert_array_equal(session.run(tf.math.segment_sum(data, ascending)), of_ascending)
        if dtype == "complex64":
            return
        for segment, join in ((tf.math.unsorted_segment_max, np.max), (tf.math.unsorted_segment_min, np.min)):
            extremes = [join(data[ids == i], 0) for i in range(40)]
            np.testing.assert_array_equal(session.run(segment(data, ids, 40)), extremes)


def test_extremes_and_products_of_short_segments():
    nan = float("nan")
    with tf.Graph().as_default(), tf.Session() as session:
        data, ids = [1., nan, -3., 4., 2.], [0, 0, 1, 1, -1]
        largest, product = session.run([tf.math.unsorted_segment_max(data, ids, 3),
                                        tf.math.unsorted_segment_prod(np.int8([100, 2, 3, -1, 9]), ids, 3)])
        assert np.isnan(largest[0]) and largest[1:].tolist() == [4, np.finfo("f").min]
        assert product.tolist() == [np.int8(-56), -3, 1]
        rows = np.random.RandomState(0).uniform(.9, 1.1, [5, 333])
        np.testing.assert_allclose(session.run(tf.reduce_prod(np.float32(rows), 1)), rows.prod(1), rtol=1e-4)


def test_casts_that_drop_bits():
    v = np.array([1.99999, -2.7182818, 1.00195312499, 65520, 3.1415926535, 1e-3, np.inf, np.nan])
    half = [1.9990234375, -2.716796875, 1.001953125, 65504, 3.140625, 0.00099945068359375, np.inf, np.nan]
    of_double = half[:2] + [1.0009765625] + half[3:]
    float32 = [1.9999899864196777, -2.7182817459106445, 1.0019530057907104, 65520, 3.141592502593994,
               0.0009999999310821295, np.inf, np.nan]
    bfloat16 = [1.9921875, -2.703125, 1, 65280, 3.140625, 0.00099945068359375, np.inf, np.nan]
    small = [1.75, -2.5, 1, 57344, 3, 0.0009765625, np.inf, np.nan]
    for source, to, expected in [
            (np.float64, tf.float32, float32), (np.float64, tf.float16, of_double), (np.float32, tf.float16, half),
            (np.float32, tf.bfloat16, bfloat16), (np.complex64, tf.float16, half),
            (np.complex128, tf.float16, of_double), (np.complex128, tf.float32, float32),
            (np.float32, tf.as_dtype("float8_e5m2"), small)]:
        cut = run(lambda: tf.cast(tf.raw_ops.Cast(x=v.astype(source), DstT=to, Truncate=True), tf.float64))
        np.testing.assert_array_equal(cut, expected)
    cut = run(lambda: tf.raw_ops.Cast(x=v.astype(np.complex128), DstT=tf.complex64, Truncate=True))
    np.testing.assert_array_equal(cut, np.array(float32, np.complex64))


def test_denormal_numbers_of_two_bytes_are_true():
    bits = np.array([0, 0x8000, 1, 0x8001, 0x7F], np.uint16)
    for dtype in (tf.float16, tf.bfloat16):
        got = run(lambda: tf.cast(tf.bitcast(bits, dtype), tf.bool))
        assert got.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "expm1",
                                  "log1p", "sqrt", "floor", "ceil", "round", "rint", "negative"])
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_zeros_keep_their_sign(name, dtype):
    y = run(lambda: tf.cast(getattr(tf.math, name)(tf.cast(np.full(40, -0.0), dtype)), tf.float64))
    assert (y == 0).all() and (np.signbit(y) == (name != "negative")).all()


def test_the_incomplete_gamma_function_of_zero():
    y = run(lambda: tf.math.igamma(np.array([0.0, -1, np.nan, np.inf, 0, 2]), np.array([0.0, 0, -0.0, 0, 1, -1])))
    np.testing.assert_array_equal(y, [0, 0, 0, 0, np.nan, np.nan])


@pytest.mark.parametrize("axis, shape, expected", [
    ((0, 0), [3], [3.0, 5.0, 7.0]), ([1, -1], [2], [3.0, 12.0]), ((0, 1, 0), [], 15.0)])
def test_an_axis_that_comes_twice(axis, shape, expected):
    """1.15.5 reduces it once; 2.21 refuses it (test_an_axis_that_comes_twice_in_version_two)."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        total, axes = tf.reduce_sum(x, axis=axis), tf.placeholder(tf.int32, [None])
        assert total.shape.as_list() == shape and sess.run(total).tolist() == expected
        assert sess.run(tf.reduce_sum(x, axis=axes), {axes: list(axis)}).tolist() == expected


def test_an_axis_that_comes_twice_in_version_two(version_two):
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Axes contains duplicate dimension: 0"):
            sess.run(tf.reduce_sum(tf.ones([2, 3]), axis=(0, 0)))
