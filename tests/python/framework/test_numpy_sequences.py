"""Lists of NumPy values as eager tensors; types and errors are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


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


def test_arrays_take_the_default_type_of_an_op():
    """As TensorFlow 2.21: of an op that runs at once; tensors and NumPy's numbers keep theirs."""
    for dtype in (np.float64, np.float16, np.int32):
        image, vector = np.ones((1, 2, 2, 3), dtype), np.ones(4, dtype)
        assert tf.image.rgb_to_hsv(image).dtype == tf.image.hsv_to_rgb(image).dtype == tf.float32
        assert tf.nn.max_pool2d(image, 2, 2, "VALID").dtype == tf.float32
        assert tf.signal.fft(vector).dtype == tf.complex64
        assert tf.one_hot(vector, 3).numpy()[0].tolist() == [0, 1, 0]
    for dtype in (np.float64, np.float16):
        image = np.ones((1, 2, 2, 3), dtype)
        for function in (tf.image.rgb_to_hsv, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID")):
            assert function(tf.constant(image)).dtype == dtype
    assert tf.nn.local_response_normalization(np.ones((1, 2, 2, 3), np.float16)).dtype == tf.float16
    assert tf.nn.ctc_greedy_decoder(np.ones((2, 1, 3)), [2])[1].dtype == tf.float64
    assert tf.raw_ops.Range(start=np.int64(1), limit=3, delta=1).dtype == tf.int64
    assert tf.raw_ops.Range(start=np.array(1, np.int64), limit=3, delta=1).dtype == tf.int32


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.uint32, tf.bfloat16, tf.complex64])
def test_types_that_are_not_made_of_bools(dtype):
    x = tf.cast([1], dtype)
    text = f"Cannot convert True to EagerTensor of dtype {dtype.name}$"
    for function in (lambda: x - True, lambda: True + x, lambda: x * True, lambda: True - x,
                     lambda: tf.multiply(x, True), lambda: tf.constant(True, dtype),
                     lambda: tf.convert_to_tensor(True, dtype)):
        with pytest.raises(TypeError, match=text):
            function()
    with pytest.raises(TypeError, match="Cannot convert \\[\\[True, False\\]\\] to EagerTensor of dtype"):
        tf.constant([[True, False]], dtype)
    with pytest.raises(ValueError, match="mixed types"):
        tf.constant([True, 1], dtype)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2 as input #1"):
        x + True
    assert tf.cast(True, dtype).numpy() == 1 and (x - np.True_).numpy().tolist() == [0]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint64, tf.float16, tf.float32, tf.float64, tf.complex128])
def test_types_that_are_made_of_bools(dtype):
    x = tf.constant([1], dtype)
    assert (x - True).numpy().tolist() == [0] and (True + x).numpy().tolist() == [2]
    assert tf.constant([True, False], dtype).numpy().tolist() == [1, 0]


def test_what_ops_that_run_at_once_take_as_a_list():
    words = tf.constant(["a", "b"])
    assert tf.strings.join(np.array([])).numpy() == tf.strings.join(range(0)).numpy() == b""
    assert tf.strings.join(words, "-").numpy() == b"a-b"
    assert tf.raw_ops.Pack(values=tf.ones((2, 3))).shape == [2, 3] and tf.raw_ops.AddN(inputs=range(2)).numpy() == 1
    for value in (np.array(["a"]), "ab", np.array("a")):
        with pytest.raises(TypeError, match="Expected list for 'inputs' argument to 'string_join' Op, not "):
            tf.strings.join(value)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Expected list"):
        tf.strings.join(np.array([]))


def test_integers_beyond_64_bits_as_attributes():
    for key in (2**63, -2**63 - 1):
        with pytest.raises(OverflowError, match="int too big to convert"):
            tf.strings.to_hash_bucket_strong(["a"], 10, key=[key, 1])
        with tf.Graph().as_default(), pytest.raises(ValueError, match=f"Value out of range: {key}"):
            tf.strings.to_hash_bucket_strong(["a"], 10, key=[key, 1])


def test_sparse_tensors_of_negative_shape():
    for shape in ([-2, 3], [2, -3], [-2, -3]):
        with pytest.raises(ValueError, match=r"Dimension -\d must be >= 0"):
            tf.SparseTensor([[0, 0]], [1], shape)
    assert tf.SparseTensor([[0, 0]], [1], [-1, 3]).shape.as_list() == [None, 3]
    with tf.Graph().as_default():
        assert tf.SparseTensor([[0, 0]], [1], [-2, 3]).shape.as_list() == [None, 3]
