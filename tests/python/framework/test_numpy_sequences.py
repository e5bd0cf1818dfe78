"""Lists of NumPy values as eager tensors; types and errors are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf
from penstock.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def ones(dtype):
    return np.array([1, 0], dtype)


@pytest.mark.parametrize("first, second, expected", [
    (ones("float16"), ones("float64"), "float16"), (ones("float32"), [1, 2], "float32"),
    (ones("float64"), [1.5, 0], "float64"), ([1, 0], ones("float64"), "float32"),
    ([1.5, 0], ones("float64"), "float32"),
    (ones("int8"), ones("int64"), "int32"), (ones("uint64"), ones("uint64"), "int32"),
    (np.array([2**40, 1]), [1, 2], "int64"), (ones("bool"), [True, True], "bool"),
    (ones("complex64"), ones("float32"), "complex128"), (np.float64(1), 2, "float64"), (1, np.float64(2), "float32"),
    (ones("float32")[None], ones("float32")[None], "float32")])
def test_types(first, second, expected):
    tensor = tf.constant([first, second])
    assert tensor.dtype == expected
    np.testing.assert_array_equal(tensor, np.stack([np.asarray(first), np.asarray(second)]))


@pytest.mark.parametrize("values, dtype, message", [
    ([ones("float32")], "int32", r"Cannot convert \[array.* to EagerTensor of dtype int32"),
    ([ones("int32")], "bool", "dtype bool"), ([np.array(["a"])], "float32", "dtype float")])
def test_types_that_do_not_fit(values, dtype, message):
    with pytest.raises(TypeError, match=message):
        tf.constant(values, dtype)


def test_types_asked_for():
    np.testing.assert_array_equal(tf.constant([ones("float64"), [2, 3]], "float16"), [[1, 0], [2, 3]])
    assert tf.convert_to_tensor([ones("int8")], dtype_hint="float64").dtype == "float64"
    assert tf.convert_to_tensor([ones("float32")], dtype_hint="int64").dtype == "float32"


@pytest.mark.parametrize("values, message", [
    ([np.zeros(2), np.zeros(3)], "non-rectangular"), ([np.zeros((2, 2)), np.zeros(2)], "non-rectangular"),
    ([ones("bool"), ones("int32")], "mixed types"), ([ones("int32"), ones("complex64")], "mixed types"),
    ([np.array(["a", "b"]), ones("int32")], "mixed types")])
def test_values_that_make_no_tensor(values, message):
    with pytest.raises(ValueError, match=message):
        tf.constant(values)


def test_strings_and_nothing():
    assert tf.constant([np.array(["a", "b"]), ["c", b"d"]]).numpy().tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert tf.constant([np.array("a")]).numpy().tolist() == [b"a"]
    empty = tf.constant([np.zeros((0, 3)), np.zeros((0, 3))])
    assert (empty.shape, empty.dtype) == ([2, 0], "float32")


def test_ops_take_them():
    np.testing.assert_array_equal(tf.reduce_sum([np.ones(2), np.ones(2)], 0), [2, 2])
    np.testing.assert_array_equal(tf.constant([[1., 2.]]) + [np.ones(2)], [[2, 3]])


def test_the_type_of_an_array_counts_before_a_default():
    with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'T' of float is not in the list of allowed values: "
                                                             "uint8, uint16"):
        tf.io.encode_png(np.zeros((2, 2, 3), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'T' of string"):
        tf.math.abs(tf.constant("a"))


@pytest.mark.parametrize("make", [lambda held: [held], lambda held: {"a": held}, lambda held: [held, held]])
def test_what_holds_itself_has_an_end(make):
    inside = []
    held = make(inside)
    inside.append(held)
    for function in (tf.constant, tf.make_tensor_proto):
        with pytest.raises((RecursionError, ValueError, TypeError)):
            function(held)
