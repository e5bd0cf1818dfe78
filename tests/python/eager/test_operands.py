"""Operands of another kind than the tensor's: what becomes of them, what is refused. Answers are TensorFlow 2.21's."""
import operator

import numpy as np
import pytest

import penstock as tf
from penstock._src.base.mode import mode


@pytest.fixture(autouse=True)
def eager(version_two, monkeypatch):
    monkeypatch.setattr(mode, "tensor_equality", True)


INTEGERS = [(tf.int8, 300, 44), (tf.int32, 2**40, 0), (tf.int32, 3 * 10**9, 3 * 10**9 - 2**32), (tf.uint8, -3, 253),
            (tf.uint32, 2**32, 0)]


@pytest.mark.parametrize("dtype, given, held", INTEGERS)
def test_integers_beyond_a_type_give_their_lower_bits(dtype, given, held):
    assert tf.constant(given, dtype).numpy() == held
    assert tf.constant([given], dtype).numpy().tolist() == [held]
    assert tf.Variable(given, dtype=dtype).numpy() == held
    assert (tf.zeros([2], dtype) + given).numpy().tolist() == [held, held]
    assert tf.add(given, tf.zeros([2], dtype)).dtype == dtype
    with tf.Graph().as_default():
        assert tf.get_static_value(tf.constant(given, dtype)) == held


@pytest.mark.parametrize("dtype", [tf.int8, tf.int32, tf.int64, tf.uint64])
def test_integers_of_more_than_64_bits_are_refused(dtype):
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant(2**70, dtype)


X, I, B = [1.0, 2.0], [1, 2], [True, False]
TEXT = np.array(["a", "b"])


@pytest.mark.parametrize("function", [operator.sub, operator.mul, operator.lt, operator.mod, operator.eq, tf.multiply,
                                      tf.subtract, tf.maximum, tf.less, tf.pow, tf.equal])
@pytest.mark.parametrize("left, right, error, text", [
    (X, TEXT, ValueError, "could not convert string to float"), (X, "a", TypeError, "Cannot convert 'a'"),
    (I, 2.5, TypeError, "Cannot convert 2.5 to EagerTensor of dtype int32"),
    (X, object(), ValueError, "with an unsupported type"),
    (X, [[1], [2, 3]], ValueError, "non-rectangular"),
    (X, tf.TensorShape([2]), TypeError, "Cannot convert TensorShape .* Allowed dtypes are tf.int32 and tf.int64"),
    (X, I, tf.errors.InvalidArgumentError, "expected to be a float tensor but is a int32 tensor")])
def test_what_does_not_become_of_the_tensors_type_says_why(function, left, right, error, text):
    right = tf.constant(right) if right is I else right
    with pytest.raises(error, match=text):
        function(tf.constant(left), right)


@pytest.mark.parametrize("function", [operator.add, tf.add])
@pytest.mark.parametrize("left, right", [(X, "a"), (I, 2.5), (I, [1.5, 2.0])])
def test_sums_take_the_other_operand_as_it_is(function, left, right):
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2 as input #1"):
        function(tf.constant(left), right)


@pytest.mark.parametrize("function", [tf.multiply, tf.subtract, tf.less, tf.pow, tf.bitwise.bitwise_and, tf.atan2])
def test_a_tensor_of_a_type_that_the_op_lacks(function):
    with pytest.raises(TypeError, match="Cannot convert 1 to EagerTensor of dtype bool"):
        function(tf.constant(B), 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'T' of bool is not in the list"):
        function(tf.constant(B), tf.constant(B))


@pytest.mark.parametrize("other, error, text", [
    (None, ValueError, "unsupported type"), (TEXT, ValueError, "could not convert string to float"),
    ([[1], [2, 3]], ValueError, "non-rectangular"),
    (I, tf.errors.InvalidArgumentError, "cannot compute ConcatV2 as input #1.* a float tensor but is a int32 tensor")])
def test_lists_with_a_value_of_another_type(other, error, text):
    other = tf.Variable(other) if other is I else other
    with pytest.raises(error, match=text):
        tf.concat([tf.constant(X), other], 0)


class _Knowing:
    def __rmul__(self, other):
        return "mine"

    def __radd__(self, other):
        return NotImplemented


def test_an_operand_that_knows_what_to_do_is_asked():
    x = tf.constant(2)
    assert x * _Knowing() == "mine"
    assert x * [[1], [2, 3]] == [[1], [2, 3]] * 2  # as an index is
    with pytest.raises(ValueError, match="unsupported type"):
        x + _Knowing()


@pytest.mark.parametrize("shape", [1.5, 2.0, [2.0], [np.float32(2)], ["a"], np.array([2.0])])
def test_dimensions_are_integers(shape):
    for made in (tf.TensorShape, tf.TensorSpec):
        with pytest.raises(TypeError, match="__index__ method|could not be converted to a dimension"):
            made(shape)
    assert (tf.TensorShape([2]) == [2.0]) is False


@pytest.mark.parametrize("shape", [1.5, [1.5], 2.0, [2.0]])
def test_shapes_of_constants_are_integers(shape):
    for made in (tf.zeros, tf.ones):
        with pytest.raises(TypeError, match="to EagerTensor of dtype int32"):
            made(shape)


def test_a_shape_to_broadcast_to_is_a_vector():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be a vector of {int32,int64}, got shape \[\]"):
        tf.broadcast_to(1.0, tf.constant(2))


def test_what_is_said_of_what_is_no_tensor():
    with pytest.raises(AttributeError, match="EagerTensor object has no attribute 'T'. If you are looking for numpy"):
        tf.constant(1).T
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="Failed to convert elements of .* Consider casting elements to a"):
            tf.constant(object())
        with pytest.raises(TypeError, match="can't convert Operation 'NoOp' to Tensor"):
            tf.identity(tf.no_op())


def test_arrays_without_dimensions_in_lists():
    with tf.Graph().as_default():
        assert tf.get_static_value(tf.constant([[1, np.array(2)], [3, 4]], tf.float32)).tolist() == [[1, 2], [3, 4]]
    assert tf.make_ndarray(tf.make_tensor_proto([10.0, np.array(30.0)], dtype=tf.float32)).tolist() == [10, 30]
