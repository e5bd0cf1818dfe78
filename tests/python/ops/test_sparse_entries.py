"""Entries of sparse tensors put in order, split, joined and multiplied: many of them, which take other ways."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def scattered(n, shape, seed=0):
    """n different places of a shape, in no order, and their numbers."""
    flat = np.random.default_rng(seed).choice(np.prod(shape), n, replace=False)
    return np.stack(np.unravel_index(flat, shape), 1), flat


@pytest.mark.parametrize("shape, n", [((40, 50), 500), ((700,), 200), ((8, 9, 30), 300), ((5, 5), 6)])
@pytest.mark.parametrize("dtype", ["float32", "string", "int64"])
def test_entries_come_by_rows(shape, n, dtype):
    indices, flat = scattered(n, shape)
    values = np.array([b"%d" % i for i in flat], object) if dtype == "string" else flat.astype(dtype)
    order = np.argsort(flat)
    sorted_once = tf.sparse.reorder(tf.SparseTensor(indices, values, shape))
    again = tf.sparse.reorder(sorted_once)
    for y in (sorted_once, again):
        np.testing.assert_array_equal(y.indices.numpy(), indices[order])
        np.testing.assert_array_equal(y.values.numpy(), values[order])


def test_entries_at_one_place_keep_their_order_and_huge_shapes_are_compared():
    indices = np.array([[1, 1], [0, 2**61], [1, 1], [0, 5]] * 40)
    y = tf.sparse.reorder(tf.SparseTensor(indices, np.arange(160), [2**40, 2**62]))
    wanted = [*range(3, 160, 4), *range(1, 160, 4), *range(0, 160, 2)]
    np.testing.assert_array_equal(y.values.numpy(), wanted)
    small = indices % 3
    y = tf.sparse.reorder(tf.SparseTensor(small, np.arange(160), [3, 3]))
    np.testing.assert_array_equal(y.values.numpy(), sorted(range(160), key=lambda i: (*small[i], i)))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_parts_joined_are_the_whole(axis, parts):
    indices, flat = scattered(300, (23, 30))
    x = tf.sparse.reorder(tf.SparseTensor(indices, flat.astype(np.float32), [23, 30]))
    dense = tf.sparse.to_dense(x).numpy()
    split = tf.sparse.split(sp_input=x, num_split=parts, axis=axis)
    for got, wanted in zip(split, np.array_split(dense, parts, axis)):
        assert got.dense_shape.numpy().tolist() == list(wanted.shape)
        np.testing.assert_array_equal(tf.sparse.to_dense(got).numpy(), wanted)
    np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.concat(axis, split)).numpy(), dense)
    np.testing.assert_array_equal(tf.sparse.to_dense(tf.sparse.slice(x, [2, 3], [9, 100])).numpy(), dense[2:11, 3:])


def test_rows_without_entries_are_filled_and_full_ones_stay():
    x = tf.SparseTensor([[0, 1], [0, 2], [2, 0]], [1.0, 2.0, 3.0], [4, 3])
    y, empty = tf.sparse.fill_empty_rows(x, 9.0)
    assert y.indices.numpy().tolist() == [[0, 1], [0, 2], [1, 0], [2, 0], [3, 0]]
    assert y.values.numpy().tolist() == [1, 2, 9, 3, 9] and empty.numpy().tolist() == [False, True, False, True]
    for rows, wanted in (([0, 1, 1], [1, 2, 3]), ([1, 0, 1], [2, 1, 3])):  # in order, and moved
        y, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[r, 0] for r in rows], [1.0, 2.0, 3.0], [2, 3]), 9.0)
        assert y.values.numpy().tolist() == wanted and not empty.numpy().any()
        assert y.indices.numpy()[:, 0].tolist() == sorted(rows)


@pytest.mark.parametrize("columns", [1, 3, 8, 33])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_products_with_dense_matrices(columns, dtype):
    indices, flat = scattered(200, (30, 20))
    for in_order in (False, True):
        order = np.argsort(flat) if in_order else slice(None)
        a = tf.SparseTensor(indices[order], (flat[order] % 11 - 5).astype(dtype), [30, 20])
        dense = np.zeros((30, 20), dtype)
        dense[tuple(indices.T)] = (flat % 11 - 5).astype(dtype)
        for adjoint in (False, True):
            left = dense.T if adjoint else dense
            b = (np.arange(left.shape[1] * columns) % 7 - 3).astype(dtype).reshape(-1, columns)
            np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(a, b, adjoint_a=adjoint).numpy(), left @ b)
            np.testing.assert_array_equal(
                tf.sparse.sparse_dense_matmul(a, b.T, adjoint_a=adjoint, adjoint_b=True).numpy(), left @ b)


def test_slices_from_before_the_beginning_and_behind_the_end():
    entries = {"indices": np.int64([[0, 0], [1, 2], [2, 1], [3, 3]]), "values": np.arange(1.0, 5),
               "shape": np.int64([4, 4])}

    def cut(start, size):
        box = {"start": np.int64(start), "size": np.int64(size)}
        return [y.numpy().tolist() for y in tf.raw_ops.SparseSlice(**box, **entries)]

    assert cut([-1, 0], [4, 4]) == [[[1, 0], [2, 2], [3, 1]], [1, 2, 3], [4, 4]]
    assert cut([-1, 0], [100, 100]) == [[[1, 0], [2, 2], [3, 1], [4, 3]], [1, 2, 3, 4], [5, 4]]
    assert cut([5, 5], [-1, 2]) == cut([0, 5], [0, -1]) == [[], [], [0, 0]]
    for start, size, bad in [([0, 0], [-1, 2], -1), ([2, 0], [0, -5], -5), ([5, 5], [-2, 2], -2)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Expected a non-negative size, got {bad}"):
            cut(start, size)
