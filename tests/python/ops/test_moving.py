"""Ops that move elements: values for every element type, shapes, gradients and refusals, against NumPy."""
import numpy as np
import pytest

import penstock.v1 as tf

DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32, np.float64, np.complex64,
          np.complex128]


def values(shape, dtype, seed=0):
    return (np.random.RandomState(seed).randn(*shape) * 50).astype(dtype)


def run(build, *arrays):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(a) for a in arrays]
        outputs = build(*inputs)
        result = session.run(outputs)
        for tensor, value in zip(*(x if isinstance(x, (list, tuple)) else [x] for x in (outputs, result))):
            assert tensor.shape.is_compatible_with(value.shape)
        return result


CASES = {
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    "reverse": (lambda x: tf.reverse(x, [0, -1]), lambda x: x[::-1, :, ::-1]),
    "roll": (lambda x: tf.roll(x, [1, -3], [0, 2]), lambda x: np.roll(x, [1, -3], [0, 2])),
    "slice": (lambda x: tf.slice(x, [0, 1, 2], [2, -1, 1]), lambda x: x[:2, 1:, 2:3]),
    "strided": (lambda x: x[::-2, ..., 1::2, tf.newaxis], lambda x: x[::-2, ..., 1::2, None]),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2], [3, 1]]), lambda x: np.pad(x, [[1, 0], [0, 2], [3, 1]])),
    "reflect": (lambda x: tf.pad(x, [[1, 0], [0, 2], [3, 1]], "REFLECT"),
                lambda x: np.pad(x, [[1, 0], [0, 2], [3, 1]], "reflect")),
    "symmetric": (lambda x: tf.pad(x, [[1, 3], [0, 2], [3, 1]], "SYMMETRIC"),
                  lambda x: np.pad(x, [[1, 3], [0, 2], [3, 1]], "symmetric")),
    "tile": (lambda x: tf.tile(x, [2, 1, 3]), lambda x: np.tile(x, [2, 1, 3])),
    "concat": (lambda x: tf.concat([x, x[:, :1], x], 1), lambda x: np.concatenate([x, x[:, :1], x], 1)),
    "stack": (lambda x: tf.stack([x, x], 1), lambda x: np.stack([x, x], 1)),
    "gather": (lambda x: tf.gather(x, [[2, 0], [1, 1]]), lambda x: x[[[2, 0], [1, 1]]]),
    "gather_nd": (lambda x: tf.gather_nd(x, [[2, 0], [1, 3]]), lambda x: x[[2, 1], [0, 3]]),
    "band": (lambda x: tf.linalg.band_part(x, 1, 2), lambda x: np.triu(np.tril(x, 2), -1)),
    "diag_part": (lambda x: tf.linalg.diag_part(x), lambda x: np.diagonal(x, axis1=1, axis2=2)),
    "diag": (lambda x: tf.linalg.diag(x), lambda x: x[..., None] * np.eye(5, dtype=x.dtype)),
    "broadcast": (lambda x: tf.broadcast_to(x[:, :1], [2, 3, 4, 5]), lambda x: np.broadcast_to(x[:, :1], [2, 3, 4, 5])),
    "space_to_batch": (lambda x: tf.space_to_batch_nd(x, [2], [[0, 0]]),
                       lambda x: x.reshape(3, 2, 2, 5).transpose(2, 0, 1, 3).reshape(6, 2, 5)),
}
NOT_BOOL = {"space_to_batch"}
NOT_COMPLEX = {"space_to_batch"}


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    if (name in NOT_BOOL and dtype == np.bool_) or (name in NOT_COMPLEX and np.iscomplexobj(dtype())):
        pytest.skip("TensorFlow has no such kernel")
    ours, numpys = CASES[name]
    x = values((3, 4, 5), dtype)
    np.testing.assert_array_equal(run(ours, x), numpys(x))


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    x = values((3, 4, 5), np.float64)
    with tf.Graph().as_default(), tf.Session():
        t = tf.constant(x)
        y = CASES[name][0](t)
        assert tf.test.compute_gradient_error(t, x.shape, y, y.shape.as_list(), x_init_value=x) < 1e-7


@pytest.mark.parametrize("name", CASES)
def test_gradient_when_shapes_are_unknown(name):
    x = values((3, 4, 5), np.float64)
    with tf.Graph().as_default(), tf.Session() as session:
        gradients = []
        for t in (tf.constant(x), tf.placeholder_with_default(x, None if name != "strided" else [None] * 3)):
            y = CASES[name][0](t)
            gradients.append(session.run(tf.convert_to_tensor(tf.gradients(y * y, t)[0])))
        np.testing.assert_allclose(gradients[0], gradients[1])


@pytest.mark.parametrize("axis", [1, -1])
def test_gather_along_other_axes(axis):
    x = values((3, 4, 5), np.float32)
    np.testing.assert_array_equal(run(lambda t: tf.gather(t, [[2, 0], [1, 1]], axis=axis), x),
                                  np.take(x, [[2, 0], [1, 1]], axis))


def test_split_and_unstack():
    x = values((4, 6), np.float32)
    for part, expected in zip(run(lambda t: tf.split(t, 3, 1), x), np.split(x, 3, 1)):
        np.testing.assert_array_equal(part, expected)
    for part, expected in zip(run(lambda t: tf.split(t, [1, -1, 2], 1), x), np.split(x, [1, 4], 1)):
        np.testing.assert_array_equal(part, expected)
    for part, expected in zip(run(tf.unstack, x), x):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("build, words", [
    (lambda p: tf.transpose(tf.zeros([2, 3]), p([0, 2])), "out of range"),
    (lambda p: tf.gather(tf.zeros([5]), p([7])), "is not in \\[0, 5\\)"),
    (lambda p: tf.gather_nd(tf.zeros([5]), p([[-1]])), "does not index into param shape"),
    (lambda p: tf.scatter_nd(p([[9]]), [1.0], [5]), "does not index into shape"),
    (lambda p: tf.reshape(tf.zeros([6]), p([4, -1])), "requires a multiple of 4"),
    (lambda p: tf.fill(p([-3]), 1.0), "-3"),
    (lambda p: tf.slice(tf.zeros([5]), p([4]), [3]), "Expected size\\[0\\] in \\[0, 1\\]"),
    (lambda p: tf.tile(tf.zeros([5]), p([-1])), "Expected multiples\\[0\\] >= 0"),
    (lambda p: tf.pad(tf.zeros([5]), p([[-1, 0]])), "non-negative"),
    (lambda p: tf.zeros([2])[p(5)], "slice index 5 of dimension 0 out of bounds"),
    (lambda p: tf.dynamic_partition([1.0], p([3]), 2), "is not in \\[0, 2\\)"),
])
def test_refuses_what_cannot_be(build, words):
    with tf.Graph().as_default(), tf.Session() as session:
        result = build(lambda v: tf.placeholder_with_default(np.array(v, np.int32), np.shape(v) or None))
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(result)
        assert session.run(tf.constant(1)) == 1


def test_matrix_diagonals_align_as_told():
    x = np.arange(1, 13).reshape(3, 4)
    part = run(lambda t: tf.raw_ops.MatrixDiagPartV3(input=t, k=[-1, 1], padding_value=0, align="RIGHT_LEFT"), x)
    np.testing.assert_array_equal(part, [[2, 7, 12], [1, 6, 11], [5, 10, 0]])
    back = run(lambda d: tf.raw_ops.MatrixDiagV3(diagonal=d, k=[-1, 1], num_rows=3, num_cols=4, padding_value=0,
                                                 align="RIGHT_LEFT"), part)
    np.testing.assert_array_equal(back, np.triu(np.tril(x, 1), -1))


def test_sparse_matmul():
    rng = np.random.RandomState(3)
    dense = rng.randn(7, 5).astype(np.float32) * (rng.rand(7, 5) < 0.4)
    b = rng.randn(5, 70).astype(np.float32)
    where = np.argwhere(dense)
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.SparseTensor(where, dense[dense != 0], dense.shape)
        np.testing.assert_allclose(session.run(tf.sparse_tensor_dense_matmul(a, b)), dense @ b, rtol=1e-5, atol=1e-6)
        c = rng.randn(9, 7).astype(np.float32)
        both = tf.sparse_tensor_dense_matmul(a, c, adjoint_a=True, adjoint_b=True)
        np.testing.assert_allclose(session.run(both), dense.T @ c.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_stretched_and_repeated(seed):
    random = np.random.default_rng(seed)
    rank = random.integers(1, 6)
    full = [int(random.choice([1, 2, 3, 8, 17, 40])) for _ in range(rank)]
    parts = [[1 if random.random() < 0.5 else size for size in full][random.integers(0, 2) if rank > 1 else 0:]
             for _ in range(2)]
    dtype = random.choice(["float32", "int64", "int8", "complex128"])
    x, y = (random.integers(-9, 9, shape).astype(dtype) for shape in parts)
    whole, times = random.integers(-9, 9, full).astype(dtype), random.integers(1, 7, x.ndim)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(dtype) for _ in range(3)]
        got = session.run([tf.broadcast_to(fed[0], full), tf.tile(fed[0], times), fed[0] + fed[1], fed[2] - fed[0],
                           fed[1] * fed[2]], dict(zip(fed, (x, y, whole))))
    for ours, wanted in zip(got, (np.broadcast_to(x, full), np.tile(x, times), x + y, whole - x, y * whole)):
        np.testing.assert_array_equal(ours, wanted)


def test_long_repeats_of_short_blocks():
    block = np.arange(24, dtype=np.float32).reshape(2, 1, 1, 4, 3, 1)
    whole = np.arange(2 * 50 * 9 * 4 * 3 * 5, dtype=np.float32).reshape(2, 50, 9, 4, 3, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        got = session.run([tf.broadcast_to(x, whole.shape), tf.tile(x, [3, 50, 9, 2, 1, 5]), y - x, x / (y + 1)],
                          {x: block, y: whole})
    np.testing.assert_array_equal(got[0], np.broadcast_to(block, whole.shape))
    np.testing.assert_array_equal(got[1], np.tile(block, [3, 50, 9, 2, 1, 5]))
    np.testing.assert_array_equal(got[2], whole - block)
    np.testing.assert_array_equal(got[3], block / (whole + 1))


def test_mirrored_paddings_of_empty_tensors():
    with tf.Graph().as_default(), tf.Session() as sess:
        def pad(shape, paddings, mode):
            return sess.run(tf.raw_ops.MirrorPad(input=tf.placeholder_with_default(np.zeros(shape), None),
                                                 paddings=paddings, mode=mode))

        assert pad([0, 3], [[0, 0], [3, 2]], "SYMMETRIC").shape == (0, 8)
        for shape, paddings, mode, message in [
                ([0, 3], [[0, 0], [0, 4]], "SYMMETRIC", "no greater than the dimension size: 0, 4 greater than 3"),
                ([0], [[1, 0]], "SYMMETRIC", "no greater than the dimension size: 1, 0 greater than 0"),
                ([3, 0], [[3, 0], [0, 0]], "REFLECT", "less than the dimension size: 3, 0 not less than 3"),
                ([0], [[0, 0]], "REFLECT", "less than the dimension size: 0, 0 not less than 0")]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"paddings must be {message}"):
                pad(shape, paddings, mode)
        for n, paddings, message in [
                (3, [2, 0], "paddings must be no greater than the output dimension size: 2, 0 greater than 1"),
                (3, [1, 2], "Total paddings must be less than the input dimension size: 3 was not less than 3")]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(tf.raw_ops.MirrorPadGrad(input=tf.placeholder_with_default(np.zeros([n]), None),
                                                  paddings=[paddings], mode="SYMMETRIC"))
