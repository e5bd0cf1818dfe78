"""tf.experimental.DynamicRaggedShape and the functions that take or give one: TensorFlow 2.21's results."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

Shape = tf.experimental.DynamicRaggedShape
RowPartition = tf.experimental.RowPartition


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def shapes():
    ragged = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    return {
        "ragged": tf.shape(ragged), "dense": Shape.from_tensor(tf.ones([2, 3])),
        "inner": Shape.from_lengths([2, (2, 1), 2]),
        "uniform": Shape.from_lengths([2, 3, (2, 1, 2, 3, 4, 5)]),
        "partitions": Shape.from_row_partitions([RowPartition.from_row_splits([0, 2, 2, 5])]),
        "both": Shape([RowPartition.from_row_splits([0, 2, 2, 5])], [5, 3]),
        "more": Shape.from_lengths([2, 3, 4], num_row_partitions=1),
    }


@pytest.mark.parametrize("name, lengths, text, partitions, inner", [
    ("ragged", [2, None, None], "[2, (2, 1), (2, 1, 1)]", 2, [4]), ("dense", [2, 3], "[2, 3]", 0, [2, 3]),
    ("inner", [2, None, 2], "[2, (2, 1), 2]", 1, [3, 2]),
    ("uniform", [2, 3, None], "[2, 3, (2, 1, 2, 3, 4, 5)]", 2, [17]),
    ("partitions", [3, None], "[3, (2, 0, 3)]", 1, [5]), ("both", [3, None, 3], "[3, (2, 0, 3), 3]", 1, [5, 3]),
    ("more", [2, 3, 4], "[2, 3, 4]", 1, [6, 4])])
def test_what_is_known(name, lengths, text, partitions, inner):
    shape = shapes()[name]
    assert shape.static_lengths(ragged_lengths=False) == lengths and shape.rank == len(lengths)
    assert repr(shape) == f"<DynamicRaggedShape lengths={text} num_row_partitions={partitions}>"
    assert shape.num_row_partitions == len(shape.row_partitions) == partitions
    assert shape.inner_shape.numpy().tolist() == inner and shape.inner_rank == len(inner)
    assert shape.dtype == (tf.int32 if name in ("ragged", "dense") else tf.int64)
    assert shape.with_dtype(tf.int32).dtype == tf.int32
    for axis, length in enumerate(lengths):
        assert shape.is_uniform(axis) == (length is not None)
        if length is None:
            with pytest.raises(ValueError, match=f"Index {axis} is not uniform"):
                shape[axis]
        else:
            assert int(shape[axis]) == length
        assert shape[:axis + 1].static_lengths() == shape.static_lengths()[:axis + 1]
    again = tf.function(lambda s: s)(shape)
    assert again.static_lengths() == shape.static_lengths() and again.num_row_partitions == partitions


def test_slices():
    shape = shapes()["more"]
    assert shape[1:].static_lengths() == [3, 4] and int(shape[-1]) == 4 and shape[:0].rank == 0
    with pytest.raises(ValueError, match="must be uniform"):
        shapes()["ragged"][1:]
    with pytest.raises(IndexError):
        shape[3]
    with pytest.raises(IndexError, match="stride"):
        shape[::2]


def test_what_is_refused():
    with pytest.raises(ValueError, match="not consistent"):
        Shape.from_lengths([2, (1, 2, 3)])
    with pytest.raises(ValueError):
        Shape.from_lengths([(1, 2)])
    with pytest.raises(ValueError, match="num_row_partitions"):
        Shape.from_lengths([2, (1, 2)], num_row_partitions=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="align"):
        Shape([RowPartition.from_row_splits([0, 2])], [3], validate=True)
    with pytest.raises(TypeError):
        Shape([1], [2])


def test_functions_take_ragged_shapes():
    shape = shapes()["ragged"]
    assert tf.reshape(tf.range(4), shape).to_list() == [[[0, 1], [2]], [[3]]]
    assert tf.zeros(shape, tf.int32).to_list() == [[[0, 0], [0]], [[0]]]
    assert tf.fill(shape, 5).to_list() == [[[5, 5], [5]], [[5]]]
    assert tf.ones(shapes()["inner"]).to_list() == [[[1, 1], [1, 1]], [[1, 1]]]
    assert tf.reshape(tf.ones(shape), Shape.from_lengths([3, (2, 1, 1)])).to_list() == [[1, 1], [1], [1]]
    np.testing.assert_array_equal(tf.reshape(tf.ragged.constant([[1, 2], [3, 4]]), [4]), [1, 2, 3, 4])
    assert tf.shape(tf.ragged.constant([[1]]), out_type=tf.int64).dtype == tf.int64
    assert tf.function(lambda x: tf.zeros(tf.shape(x)))(tf.ragged.constant([[1, 2], [3]])).to_list() == [[0, 0], [0]]


def test_broadcasting():
    shape = tf.shape(tf.ragged.constant([[1, 2], [3]]))
    assert tf.broadcast_to(7, shape).to_list() == [[7, 7], [7]]
    assert tf.broadcast_to(tf.constant([[1], [2]]), shape).to_list() == [[1, 1], [2]]
    assert tf.broadcast_to(tf.ragged.constant([[1, 2], [3]]), shape).to_list() == [[1, 2], [3]]
    for other in (tf.constant([1, 1]), Shape.from_lengths([2, 1])):
        assert tf.broadcast_dynamic_shape(shape, other).static_lengths() == [2, (2, 1)]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.broadcast_to(tf.constant([[1, 2], [2, 3]]), shape)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.broadcast_to(tf.ones([3, 1]), Shape.from_lengths([1, (2,)]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.broadcast_dynamic_shape(Shape.from_lengths([2, (2, 1)]), Shape.from_lengths([2, (2, 3)]))
