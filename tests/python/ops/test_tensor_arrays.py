"""TensorArray in graphs of version 1. Expected values and messages: TensorFlow 1.15.5's."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def array(size, dtype=tf.float32, **kwargs):
    return tf.TensorArray(dtype, size=size, infer_shape=False, tensor_array_name="foo", **kwargs)


def test_what_was_split_has_the_gradient_of_its_own_pieces():
    x = tf.constant([1.0, 2.0, 3.0])
    grown = array(3, dynamic_size=True).split(x, [1, 1, 1]).write(3, [4.0])
    whole = grown.concat()
    gradient, = tf.gradients(whole * [1.0, 2.0, 3.0, 4.0], x)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(whole), [1, 2, 3, 4])
        np.testing.assert_array_equal(sess.run(gradient), [1, 2, 3])


WRONG = [
    (lambda: array(3).split([1.0, 2.0, 3.0], [1]).flow, tf.errors.InvalidArgumentError,
     r"to be equal to values.shape\[0\], but sum of lengths is 1 and value's shape is: \[3\]"),
    (lambda: array(2).split([1.0], [1]).flow, tf.errors.InvalidArgumentError,
     r"size is not equal to the size of lengths \(2 vs. 1\), and the TensorArray is not marked as dynamically resiz"),
    (lambda: array(3).write(0, "wrong type").flow, tf.errors.InvalidArgumentError,
     "TensorArray dtype is float but Op is trying to write dtype string"),
    (lambda: array(3).unstack(tf.constant([1, 2, 3])).flow, tf.errors.InvalidArgumentError,
     "TensorArray dtype is float but Op is trying to write dtype int32"),
    (lambda: array(3).grad("g").write(1, 1.0).write(1, [1.0]).flow, tf.errors.InvalidArgumentError,
     r"Could not aggregate to TensorArray index 1 because the existing shape is \[\] but the new input shape is \[1\]"),
    (lambda: array(0).stack(), tf.errors.UnimplementedError,
     "size zero, but element shape <unknown> is not fully defined. Currently only static shapes .* when packing"),
    (lambda: array(0).concat(), tf.errors.UnimplementedError,
     "size zero, but element_shape_except0 <unknown> is not fully defined. Currently only .* when concatenating"),
    (lambda: array(1).write(0, 1.0).concat(), tf.errors.InvalidArgumentError,
     "Concat saw a scalar shape at index 0 but requires at least vectors.  Did you mean to call pack?"),
]


@pytest.mark.parametrize("make, error, message", WRONG)
def test_errors(make, error, message):
    with tf.Session() as sess, pytest.raises(error, match=message):
        sess.run(make())


def test_gradients_with_more_dimensions():
    whole = tf.TensorArray(tf.float32, size=3, element_shape=[2, 3])
    handle, flow = tf.raw_ops.TensorArrayGradWithShape(
        handle=whole.handle, flow_in=whole.flow, shape_to_prepend=[4, 5], source="s")
    value = tf.placeholder(tf.float32)
    read = tf.TensorArray(tf.float32, handle=handle, flow=flow).write(0, value).read(0)
    assert read.shape.as_list() == [None, None, 2, 3]
    with tf.Session() as sess:
        fed = np.random.random([4, 5, 2, 3]).astype(np.float32)
        np.testing.assert_array_equal(sess.run(read, {value: fed}), fed)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not write to TensorArray"):
            sess.run(read, {value: fed[0, 0]})


@pytest.mark.parametrize("colocate", [True, False])
def test_an_array_is_used_on_another_device(colocate):
    with tf.device("/cpu:0"):
        start = tf.TensorArray(tf.float32, size=2, colocate_with_first_write_call=colocate)

    def body(i, a):
        with tf.device("/cpu:1"):
            return i + 1, a.write(i, tf.cast(i, tf.float32))

    _, end = tf.while_loop(lambda i, a: i < 2, body, [0, start])
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        assert sess.run(end.stack()).tolist() == [0.0, 1.0]


def test_methods_by_the_name_of_the_class():
    """Of arrays of every kind: in graphs, in eager mode, and lists in functions."""
    import penstock.v2 as tf2
    from penstock._src.graph import context

    def reversed_rows(x):
        array = tf.TensorArray.unstack(tf.TensorArray(tf.float32, 2), x)
        array = tf.TensorArray.write(tf.TensorArray(tf.float32, 2), 1, tf.TensorArray.read(array, 0)).write(0, [5.0])
        return tf.TensorArray.stack(array), tf.TensorArray.size(array)

    with tf.Graph().as_default(), tf.Session() as sess:
        found = sess.run(reversed_rows(tf.constant([[1.0], [2.0]])))
    assert found[0].tolist() == [[5], [1]] and found[1] == 2
    with context.eager_mode():
        for function in reversed_rows, tf2.function(reversed_rows):
            rows, size = function(tf.constant([[1.0], [2.0]]))
            assert rows.numpy().tolist() == [[5], [1]] and size.numpy() == 2
