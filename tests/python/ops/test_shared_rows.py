"""Rows that several threads add up, pick and chain: large enough for all of them to take part."""
import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")
RNG = np.random.default_rng(5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("width", [1, 5, 16, 37, 64, 131])
def test_segments_of_many_rows(dtype, width):
    count = 200_000 // width + 40
    data = RNG.integers(-9, 9, (count, width)).astype(dtype)  # whole numbers: any order gives the same sum
    ids = RNG.integers(-1, 50, count)  # -1: left out
    wanted = np.zeros((50, width), dtype)
    np.add.at(wanted, ids[ids >= 0], data[ids >= 0])
    np.testing.assert_array_equal(tf.math.unsorted_segment_sum(data, ids.astype(np.int32), 50), wanted)
    largest = np.full((50, width), np.finfo(dtype).min if dtype[0] == "f" else np.iinfo(dtype).min, dtype)
    np.maximum.at(largest, ids[ids >= 0], data[ids >= 0])
    np.testing.assert_array_equal(tf.math.unsorted_segment_max(data, ids, 50), largest)
    if dtype != "int32":
        picked, ordered = RNG.integers(0, count, count), np.sort(np.abs(ids))
        wanted = np.zeros((ordered[-1] + 1, width), dtype)
        np.add.at(wanted, ordered, data[picked])
        np.testing.assert_array_equal(tf.sparse.segment_sum(data, picked, ordered), wanted)


@pytest.mark.parametrize("width", [1, 24, 64, 133])
def test_scattered_rows(width):
    places, values = RNG.integers(0, 3000, 8000), RNG.integers(-9, 9, (8000, width)).astype(np.float32)
    start = RNG.integers(-9, 9, (3000, width)).astype(np.float32)
    variable = tf.Variable(start)
    variable.scatter_add(tf.IndexedSlices(values, places))
    wanted = start.copy()
    np.add.at(wanted, places, values)
    np.testing.assert_array_equal(variable, wanted)
    variable.scatter_max(tf.IndexedSlices(values, places))
    np.maximum.at(wanted, places, values)
    np.testing.assert_array_equal(variable, wanted)


@pytest.mark.parametrize("ordered", [True, False])
def test_products_of_sparse_matrices_with_empty_rows(ordered):
    rows = RNG.integers(0, 400, 30_000)
    rows = rows[(rows != 0) & (rows != 200) & (rows < 398)]
    if ordered:
        rows = np.sort(rows)
    at = np.stack([rows, RNG.integers(0, 300, len(rows))], 1)
    values, b = RNG.integers(-3, 4, len(rows)).astype(np.float32), RNG.integers(-3, 4, (300, 50)).astype(np.float32)
    a = np.zeros((400, 300), np.float32)
    np.add.at(a, tuple(at.T), values)
    got = tf.sparse.sparse_dense_matmul(tf.SparseTensor(at, values, [400, 300]), b)
    np.testing.assert_array_equal(got, a @ b)


def test_joined_steps_over_many_elements():
    """More than the caches hold: what tiles ask for ahead does not change what they compute."""
    x, y = RNG.random((1024, 300), np.float32), RNG.random((1024, 300), np.float32)

    @tf.function
    def chain(a, b):
        c = tf.maximum((a + b) * 0.5, 0.25)
        return tf.minimum(c - a, 2.0) * c, (c - tf.reduce_mean(c, -1, keepdims=True)) * b

    first, second = chain(x, y)
    c = np.maximum((x + y) * np.float32(0.5), np.float32(0.25))
    np.testing.assert_allclose(first, np.minimum(c - x, 2) * c, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second, (c - c.mean(-1, keepdims=True)) * y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("channels", [1, 3, 12, 13])
@pytest.mark.parametrize("size, stride, padding", [(3, 1, "SAME"), (3, 2, "SAME"), (2, 2, "VALID"), (2, 3, "VALID"),
                                                   (3, 1, [[0, 0], [2, 1], [0, 2], [0, 0]])])
def test_largest_of_windows_of_few_channels(channels, size, stride, padding):
    x = RNG.standard_normal((2, 9, 11, channels)).astype(np.float32)
    x[0, 3, 4, 0], x[1, :3, :3, 0] = np.nan, -np.inf
    got = tf.nn.max_pool2d(x, size, stride, padding).numpy()
    rows, columns = got.shape[1:3]
    if padding == "SAME":
        before = [max((out - 1) * stride + size - have, 0) // 2 for out, have in ((rows, 9), (columns, 11))]
    else:
        before = [0, 0] if padding == "VALID" else [padding[1][0], padding[2][0]]
    for r in range(rows):
        for c in range(columns):
            top, left = r * stride - before[0], c * stride - before[1]
            window = x[:, max(top, 0):top + size, max(left, 0):left + size]
            np.testing.assert_array_equal(got[:, r, c], window.max((1, 2)))


def test_shuffled_rows_are_the_same_whatever_their_width():
    tf.random.set_seed(4)
    numbers = tf.random.shuffle(tf.range(70_000), seed=3).numpy()
    tf.random.set_seed(4)
    rows = tf.random.shuffle(tf.stack([tf.range(70_000)] * 2, 1), seed=3).numpy()
    np.testing.assert_array_equal(np.sort(numbers), np.arange(70_000))
    np.testing.assert_array_equal(rows[:, 0], numbers)
    np.testing.assert_array_equal(numbers[:5], [60172, 17243, 8958, 64079, 17388])  # as TensorFlow 2.21
