"""RaggedTensorSpec; expected values are TensorFlow 1.15's."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.base import nest


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def test_parts_of_a_ragged_tensor():
    spec = tf.RaggedTensorSpec([2, None, None], tf.int32)
    assert spec._component_specs == [tf.TensorSpec([None], tf.int32), tf.TensorSpec([3], tf.int64),
                                     tf.TensorSpec([None], tf.int64)]
    assert spec.value_type is tf.RaggedTensor
    assert spec == tf.RaggedTensorSpec([2, None, None], tf.int32, 2, tf.int64)
    assert spec.is_compatible_with(tf.RaggedTensorSpec([None, None, None], tf.int32))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([2, None, None], tf.float32))


def test_a_value_and_its_parts():
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert ragged._type_spec == tf.RaggedTensorSpec([3, None], tf.int32)
    values, splits = nest.flatten(ragged, expand_composites=True)
    again = nest.pack_sequence_as(ragged, [values + 1, splits], expand_composites=True)
    with tf.Session() as sess:
        assert sess.run(again).to_list() == [[2, 3], [], [4]]


def test_a_loop_carries_ragged_tensors():
    start = tf.ragged.constant([[1, 2], [3]])
    result = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r.with_values(r.values * 2)), [0, start])[1]
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(result.values), [8, 16, 24])


@pytest.mark.parametrize("arguments, error", [((None, tf.int32), ValueError), (([2, None], tf.int32, 2), ValueError),
                                              (([2, None], tf.int32, 1.5), TypeError)])
def test_what_cannot_be(arguments, error):
    with pytest.raises(error):
        tf.RaggedTensorSpec(*arguments)


# Ragged tensors inside of variants; values are TensorFlow's.


def _taken(encoded, inner, levels, dtype="int32"):
    made = tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=inner,
                                              output_ragged_rank=levels, Tvalues=tf.as_dtype(dtype), Tsplits=tf.int64)
    with tf.Session() as sess:
        splits, values = sess.run([list(made.output_nested_splits), made.output_dense_values])
    return [list(s) for s in splits], values.tolist()


def _rows():
    return tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant(s, tf.int64) for s in (
        [0, 2, 3, 3], [0, 2, 2, 3])], rt_dense_values=[1, 2, 3], batched_input=True)


def test_rows_as_variants_and_back():
    with tf.Graph().as_default():
        rows = _rows()
        assert rows.shape.as_list() == [3]
        for inner in (1, -1):
            assert _taken(rows, inner, 2) == ([[0, 2, 3, 3], [0, 2, 2, 3]], [1, 2, 3])
        assert _taken(rows[0], 1, 1) == ([[0, 2, 2]], [1, 2])
        square = tf.reshape(tf.stack([rows[0], rows[1], rows[2], rows[0]]), [2, 2])
        assert _taken(square, 1, 3) == ([[0, 2, 4], [0, 2, 3, 3, 5], [0, 2, 2, 3, 5, 5]], [1, 2, 3, 1, 2])
        dense = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=[[0.0, 1.0], [2.0, 3.0]],
                                                 batched_input=True)
        assert _taken(dense, 0, 1, "float32") == ([[0, 2, 4]], [0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("inner, levels, dtype, message", [
    (0, 1, "int32", "Encoded input RaggedTensorVariant has ragged_rank=1.  Expected ragged_rank=0."),
    (1, 2, "int64", "Expected values Tensor dtype: int64, found: int32")])
def test_variants_of_another_kind(inner, levels, dtype, message):
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _taken(_rows(), inner, levels, dtype)
