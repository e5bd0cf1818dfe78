"""RaggedTensorSpec; expected values are TensorFlow 1.15's."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock.util import nest


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
