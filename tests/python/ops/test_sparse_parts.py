"""Sparse tensors as strings, variants and numbers of a table."""
import pytest

import penstock.v1 as tf
from penstock._src.base import tf2
from penstock._src.ops.sparse import sparse_ops


def run(fetches, feed=None):
    with tf.Session() as sess:
        return sess.run(fetches, feed)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def matrix():
    return tf.SparseTensor([[0, 1], [2, 0], [2, 3]], ["a", "b", "c"], [3, 4])


def check(value, indices, values, shape):
    assert value.indices.tolist() == indices and value.values.tolist() == values and value.dense_shape.tolist() == shape


@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_one(out_type):
    serialized = tf.serialize_sparse(matrix(), out_type=out_type)
    raw = tf.raw_ops.DeserializeSparse(serialized_sparse=serialized, dtype=tf.string)
    check(tf.SparseTensorValue(*run(raw)), [[0, 1], [2, 0], [2, 3]], [b"a", b"b", b"c"], [3, 4])
    two = tf.raw_ops.DeserializeSparse(serialized_sparse=tf.stack([serialized, serialized]), dtype=tf.string)
    check(tf.SparseTensorValue(*run(two)), [[0, 0, 1], [0, 2, 0], [0, 2, 3], [1, 0, 1], [1, 2, 0], [1, 2, 3]],
          [b"a", b"b", b"c"] * 2, [2, 3, 4])


def test_many():
    serialized = tf.serialize_many_sparse(matrix())
    assert run(serialized).shape == (3, 3)
    back = tf.deserialize_many_sparse(tf.gather(serialized, [2, 0]), tf.string)
    check(run(back), [[0, 0], [0, 3], [1, 1]], [b"b", b"c", b"a"], [2, 4])


def test_different_sizes_and_wrong_types():
    a = tf.serialize_sparse(tf.SparseTensor([[0]], [1], [3]))
    b = tf.serialize_sparse(tf.SparseTensor([[4]], [2], [9]))
    check(run(tf.deserialize_many_sparse(tf.stack([a, b]), tf.int32)), [[0, 0], [1, 4]], [1, 2], [2, 9])
    other = tf.serialize_sparse(matrix())
    for serialized, dtype, message in (
            (tf.stack([a, other]), tf.int32, "Requested SparseTensor of type int32 but SparseTensor\\[1\\]"),
            (tf.constant([["x", "y", "z"]]), tf.int32, "Could not parse serialized proto")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.deserialize_many_sparse(serialized, dtype))


def test_tables():
    one = sparse_ops._add_sparse_to_tensors_map(matrix(), shared_name="m")
    rows = sparse_ops._add_many_sparse_to_tensors_map(matrix(), shared_name="m")
    handles = tf.placeholder(tf.int64, [None])
    taken = sparse_ops._take_many_sparse_from_tensors_map(one.op, handles, rank=2)
    with tf.Session() as sess:
        first = sess.run(one)
        numbers = sess.run(rows)
        check(sess.run(taken, {handles: [numbers[2], numbers[0]]}), [[0, 0], [0, 3], [1, 1]], [b"b", b"c", b"a"],
              [2, 4])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor"):
            sess.run(taken, {handles: [numbers[2]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inconsistent shape across SparseTensors"):
            sess.run(taken, {handles: [first, numbers[1]]})


@pytest.mark.parametrize("a_minus_b", [True, False])
def test_the_difference_of_sets_does_not_depend_on_how_they_are_given(a_minus_b):
    def sparse(values):
        return tf.SparseTensor([[0, 0], [0, 1], [0, 2]], values, [1, 3])

    for a in (sparse([1, 1, 3]), tf.constant([[1, 1, 3]])):
        for b in (sparse([1, 2, 2]), tf.constant([[1, 2, 2]])):
            assert run(tf.sets.difference(a, b, a_minus_b)).values.tolist() == [3 if a_minus_b else 2]


def test_what_is_printed(monkeypatch):
    """The repr is the text in version 2, as in lists and dicts of sparse tensors; version 1 has the object's."""
    sparse = tf.SparseTensor([[0]], [1], [1])
    assert repr(sparse).endswith(f"SparseTensor object at {id(sparse):#x}>")
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert repr(sparse) == str(sparse) and str(sparse).startswith("SparseTensor(indices=")


def test_a_transpose_without_an_order_has_a_static_shape_in_version_two(version_two):
    with tf.Graph().as_default():
        indices, values = tf.placeholder(tf.int64, [None, 3]), tf.placeholder(tf.float32, [None])
        x = tf.SparseTensor(indices, values, [2, 3, 4])
        assert sparse_ops.sparse_transpose(x).shape.as_list() == [4, 3, 2]
        assert sparse_ops.sparse_transpose(x, [1, 0, 2]).shape.as_list() == [3, 2, 4]
        x = tf.SparseTensor(indices, values, tf.placeholder(tf.int64, [3]))
        turned = sparse_ops.sparse_transpose(x)
        assert turned.shape.as_list() == [None, None, None] and turned.indices.shape.as_list() == [None, 3]


def test_a_transpose_without_an_order_in_version_one():
    x = tf.SparseTensor(tf.placeholder(tf.int64, [None, 3]), tf.placeholder(tf.float32, [None]), [2, 3, 4])
    assert tf.sparse.transpose(x).shape.as_list() == [None, None, None]  # as in 1.15.5
