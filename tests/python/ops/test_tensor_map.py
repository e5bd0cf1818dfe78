"""Maps from tensors to tensors; what is expected is what TensorFlow 2.21 says."""
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")
ops = tf.raw_ops


def size(handle):
    return int(ops.TensorMapSize(input_handle=handle))


def test_inserting_and_erasing():
    empty = ops.EmptyTensorMap()
    one = ops.TensorMapInsert(input_handle=empty, key=tf.constant(1.), value=tf.constant([2., 3.]))
    two = ops.TensorMapInsert(input_handle=one, key=tf.constant(2.), value=tf.constant([4., 5.]))
    again = ops.TensorMapInsert(input_handle=two, key=tf.constant(1.), value=tf.constant(["other"]))
    assert [size(m) for m in (empty, one, two, again)] == [0, 1, 2, 2]
    assert ops.TensorMapLookup(input_handle=two, key=tf.constant(1.), value_dtype=tf.float32).numpy().tolist() == [2, 3]
    assert ops.TensorMapLookup(input_handle=again, key=tf.constant(1.), value_dtype=tf.string).numpy() == [b"other"]
    assert ops.TensorMapStackKeys(input_handle=two, key_dtype=tf.float32).numpy().tolist() == [1, 2]
    erased = ops.TensorMapErase(input_handle=two, key=tf.constant(1.), value_dtype=tf.float32)
    assert ops.TensorMapStackKeys(input_handle=erased, key_dtype=tf.float32).numpy().tolist() == [2]
    assert ops.TensorMapHasKey(input_handle=two, key=tf.constant(1.))
    assert not ops.TensorMapHasKey(input_handle=erased, key=tf.constant(1.))
    assert not ops.TensorMapHasKey(input_handle=two, key=tf.constant(1))  # of another type
    words = ops.TensorMapInsert(input_handle=empty, key=tf.constant(["a", "b"]), value=tf.constant(1))
    assert ops.TensorMapLookup(input_handle=words, key=tf.constant(["a", "b"]), value_dtype=tf.int32).numpy() == 1


def test_in_a_function():
    @tf.function
    def counts(keys):
        found = ops.EmptyTensorMap()
        for key in keys:
            before = tf.constant(0)
            if ops.TensorMapHasKey(input_handle=found, key=key):
                before = tf.ensure_shape(
                    ops.TensorMapLookup(input_handle=found, key=key, value_dtype=tf.int32), [])
            found = ops.TensorMapInsert(input_handle=found, key=key, value=before + 1)
        return ops.TensorMapLookup(input_handle=found, key=keys[0], value_dtype=tf.int32)

    assert counts(tf.constant([3, 1, 3, 3, 2])).numpy() == 3


def test_errors():
    empty = ops.EmptyTensorMap()
    one = ops.TensorMapInsert(input_handle=empty, key=tf.constant(1.), value=tf.constant(2.))
    mixed = ops.TensorMapInsert(input_handle=one, key=tf.constant([1.]), value=tf.constant(2.))
    for message, call in (
            ('non-existent key. Could not find key "7"',
             lambda: ops.TensorMapLookup(input_handle=one, key=tf.constant(7.), value_dtype=tf.float32)),
            ("Type mismatch: actual float vs. expect int32",
             lambda: ops.TensorMapLookup(input_handle=one, key=tf.constant(1.), value_dtype=tf.int32)),
            ('erase non-existent item. Could not find key "7"',
             lambda: ops.TensorMapErase(input_handle=one, key=tf.constant(7.), value_dtype=tf.float32)),
            ("cannot be called on empty map", lambda: ops.TensorMapStackKeys(input_handle=empty, key_dtype=tf.int32)),
            ("does not match requested dtype", lambda: ops.TensorMapStackKeys(input_handle=one, key_dtype=tf.int32)),
            ("must all have the same shape", lambda: ops.TensorMapStackKeys(input_handle=mixed, key_dtype=tf.float32)),
            ("Input handle is not a map", lambda: size(tf.raw_ops.EmptyTensorList(
                element_shape=[2], max_num_elements=3, element_dtype=tf.float32)))):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            call()
