"""What an EagerTensor is to Python and NumPy: operators, conversions, text, errors. Answers are TensorFlow 2.21's."""
import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2
from penstock._src.base.mode import mode


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    monkeypatch.setattr(mode, "tensor_equality", True)
    with context.eager_mode():
        yield


N = np.array([1, 2, 3], np.float32)


def a():
    return tf.constant([1.0, 2.0, 3.0])


@pytest.mark.parametrize("made", [
    lambda: N + a(), lambda: np.float64(2) * a(), lambda: [1, 2, 3] + a(), lambda: N / a(), lambda: N ** a(),
    lambda: a() + N.astype(int), lambda: N + tf.Variable(a()), lambda: tf.Variable(a()) - N])
def test_arrays_on_either_side_give_tensors(made):
    assert tf.is_tensor(made()) and made().dtype == tf.float32


@pytest.mark.parametrize("left, right, expected", [
    (6, 3, [2, 7, 5]), (np.array([6, 1]), 3, [[2, 1], [7, 3], [5, 2]]), (True, False, [False, True, True])])
def test_bits_and_truth(left, right, expected):
    x = tf.constant(left)
    results = x & right, x | right, x ^ right
    assert [r.numpy().tolist() for r in results] == expected
    if not isinstance(left, bool):
        assert (left & x).numpy().tolist() == np.bitwise_and(left, left).tolist()
    assert (~x).numpy().tolist() == (not left if left is True else np.invert(left).tolist())


def test_graphs_know_bits_too():
    f = tf.function(lambda x, y: (x & y, 1 | x, ~x))
    assert [int(t) for t in f(tf.constant(6), tf.constant(3))] == [2, 7, -7]


def test_equality_of_other_shapes_is_false():
    other = tf.constant([1.0, 2.0])
    assert (a() == other).numpy() is np.False_ and bool(a() != other)
    assert not bool(tf.Variable(a()) == other) and bool(tf.Variable(a()) != other)
    assert not bool(tf.function(lambda x, y: x == y)(a(), other))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        a() < other


def test_truth_and_numbers():
    assert not tf.constant([]) and not tf.constant(0) and tf.constant([[1.0]]) and tf.constant("a")
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a())
    assert int(tf.constant("12")) == 12 and float(tf.constant(3)) == 3.0 and complex(tf.constant(2j)) == 2j
    assert math.sqrt(tf.constant(4.0)) == 2.0 and list(range(tf.constant(2))) == [0, 1] and "abc"[tf.constant(1)] == "b"
    with pytest.raises(TypeError):
        range(tf.constant(2.0))
    assert N[tf.constant([True, False, True])].tolist() == [1, 3] and np.zeros(tf.constant(2)).shape == (2,)


def test_text():
    assert f"{tf.constant(2.5)}" == "2.5" and f"{tf.constant(2.5):.2f}" == "2.50" and f"{a()}" == "[1. 2. 3.]"
    assert f"{tf.constant(3):05d}" == "00003" and "%.1f" % tf.constant(2.5) == "2.5"
    m = tf.constant([[1, 2], [3, 4]])
    assert str(m) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert repr(m) == ("<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\n"
                       "array([[1, 2],\n       [3, 4]], dtype=int32)>")
    assert repr(tf.Variable(m, name="m")).endswith("numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>")
    with pytest.raises(TypeError, match="unsupported format string"):
        format(a(), "x")


def test_identity():
    x = a()
    assert copy.copy(x) is x and copy.deepcopy([x])[0] is x
    assert pickle.loads(pickle.dumps(x)).numpy().tolist() == [1, 2, 3]
    assert x.ref() == x.ref() and x.ref().deref() is x and len({x.ref(), x.ref(), a().ref()}) == 2
    with pytest.raises(TypeError, match=r"Tensor is unhashable. Instead, use tensor.ref\(\)"):
        {x: 1}
    v = tf.Variable(x)
    with pytest.raises(TypeError, match=r"Variable is unhashable. Instead, use variable.ref\(\)"):
        hash(v)
    assert v.ref().deref() is v and repr(v.ref()).startswith("<Reference wrapping <tf.Variable")
    with pytest.raises(ValueError, match=r"shape \(3,\) is not compatible with supplied shape \(4,\)"):
        x.set_shape([4])


class Odd:
    """Holds 1 and 3, and is a sequence only to those who iterate over it."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __len__(self):
        return 2

    def __iter__(self):
        return iter([1, 3])


@pytest.mark.parametrize("value, expected", [
    (Odd(), [1, 3]), ([tf.compat.v1.Dimension(2), 1], [2, 1]), (range(3), [0, 1, 2]),
    ([range(2), range(2)], [[0, 1], [0, 1]]), (bytearray(b"ab"), [97, 98]),
    (np.array(["a", "b"]), [b"a", b"b"])])
def test_sequences(value, expected):
    assert tf.constant(value).numpy().tolist() == expected


@pytest.mark.parametrize("value, dtype, error, message", [
    ([[1, 2], [3]], None, ValueError, "Can't convert non-rectangular Python sequence to Tensor"),
    ([1, [2]], None, ValueError, "Can't convert Python sequence with mixed types to Tensor"),
    ([1, "a"], None, ValueError, "Can't convert Python sequence with mixed types to Tensor"),
    (2**63, None, ValueError, "Can't convert Python sequence with out-of-range integer to Tensor"),
    (10**310, tf.float64, ValueError, "Can't convert Python sequence with out-of-range integer to Tensor"),
    ([2**100], None, ValueError, "Can't convert Python sequence with out-of-range integer to Tensor"),
    (None, None, ValueError, r"Attempt to convert a value \(None\) with an unsupported type"),
    (object, None, ValueError, r"Attempt to convert a value .* with an unsupported type \(<class 'type'>\)"),
    (np.array([b"a", None]), None, ValueError, "Unsupported object type NoneType"),
    (np.datetime64("2020-01-01"), None, ValueError, "Failed to convert a NumPy array to a Tensor"),
    (1.5, tf.int32, TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    (["a"], tf.float32, TypeError, r"Cannot convert \['a'\] to EagerTensor of dtype float"),
    ([[1], [None]], tf.int32, ValueError, r"Attempt to convert a value \(None\) with an unsupported type"),
    ([True, 1], None, ValueError, "Can't convert Python sequence with mixed types to Tensor"),
    ([[1, 2], 3], None, ValueError, "Can't convert non-rectangular Python sequence to Tensor"),
    ([2**63], None, ValueError, "Can't convert Python sequence with out-of-range integer to Tensor"),
    (1, tf.bool, TypeError, "Cannot convert 1 to EagerTensor of dtype bool")])
def test_what_becomes_no_tensor(value, dtype, error, message):
    with pytest.raises(error, match=message):
        tf.constant(value, dtype)


def test_numbers_too_large_for_a_narrow_type_keep_their_lower_bits():
    assert tf.constant([-1, 300], tf.uint8).numpy().tolist() == [255, 44]


def test_text_of_a_number_tells_all_of_it():
    assert repr(tf.constant(4.4)) == "<tf.Tensor: shape=(), dtype=float32, numpy=4.400000095367432>"
    assert str(tf.constant(4.4)) == "tf.Tensor(4.4, shape=(), dtype=float32)"


def test_specs_and_references():
    assert tf.TensorSpec.from_tensor(a()) == tf.TensorSpec([3], tf.float32)
    kept = weakref.WeakKeyDictionary({(key := a().ref()): 1})
    assert kept[key] == 1 and tf.Tensor._USE_EQUALITY


def test_variables_of_eager_execution():
    v = tf.Variable([1.0, 2.0], shape=[None], experimental_enable_variable_lifting=False)
    assert [float(x) for x in v] == [1.0, 2.0]
    v.scatter_nd_max([[0]], [5.0])
    v.scatter_nd_min([[1]], [-1.0])
    assert v.numpy().tolist() == [5.0, -1.0]
    v.set_shape([2])
    assert v.shape == [2]
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        v.eval()


def test_objects_that_say_what_tensor_they_are():
    class Celsius:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(21., dtype or tf.float32)

    assert tf.convert_to_tensor(Celsius()).numpy() == 21
    assert tf.convert_to_tensor(Celsius(), tf.float64).dtype == tf.float64
    assert (tf.constant(1.) + Celsius()).numpy() == 22 and tf.maximum(Celsius(), 30.).numpy() == 30
    assert not tf.is_tensor(Celsius())


def test_what_stands_for_a_tensor():
    kind = tf.__internal__.types.Tensor
    assert isinstance(tf.constant(1), kind) and isinstance(tf.Variable(1), kind)

    class Wrapped(kind):
        _should_act_as_resource_variable = True
        dtype = "float32"

        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(3.)

    assert tf.is_tensor(Wrapped()) and tf.add(Wrapped(), Wrapped()).numpy() == 6


def test_operands_of_other_types_are_refused_in_the_words_of_eager_execution():
    x, small = tf.constant(1), tf.constant(1, tf.int64)
    with pytest.raises(TypeError, match="^Cannot convert 1.5 to EagerTensor of dtype int32$"):
        x == 1.5
    with pytest.raises(ValueError, match=r"^Attempt to convert a value \(None\)"):
        x < None
    with pytest.raises(tf.errors.InvalidArgumentError, match="compute Pack as input #1.*be a int64 tensor but is"):
        tf.stack([small, x])
    with pytest.raises(TypeError, match="must have the same dtype, got tf.int32 != tf.float32"):
        x / tf.constant(1.)


def test_handles_have_no_array():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot convert a Tensor of dtype resource to a"):
        np.array(tf.Variable(1.).handle)
    assert tf.constant(1).is_packed is False


def test_slices_by_variables_and_lists_of_booleans():
    t = tf.constant([[1, 2], [3, 4]])
    assert t[tf.Variable(1):].numpy().tolist() == [[3, 4]]
    assert t[:tf.Variable(1)].numpy().tolist() == [[1, 2]]
    assert t[np.int16(1)].numpy().tolist() == [3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bool"):
        t[[True, False]]


def test_internal_facts():
    t = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert (t._num_elements(), t._datatype_enum(), t._rank()) == (6, 3, 2)
    assert (tf.constant(1.0)._num_elements(), tf.constant(1.0)._datatype_enum(), tf.constant(1.0)._rank()) == (1, 1, 0)
    assert tf.zeros([0, 3])._num_elements() == 0 and len(tf.zeros([0, 3])) == 0


def test_bytes_among_strings():
    assert tf.constant([["a", b"\xff"], ["b", "é"]]).numpy().tolist() == [[b"a", b"\xff"], [b"b", b"\xc3\xa9"]]


def test_products_of_bools(monkeypatch):
    """Version 2's operator `*` takes them as 0 and 1; tf.multiply refuses them, as version 1 does."""
    b, one = tf.constant([True, False]), tf.constant(1)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        b * b
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    for product in (b * b, b * 2, b * one, one * b, True * b, b * np.array([1, 2]), tf.function(lambda: b * b)()):
        assert product.dtype == tf.bool and product.numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.multiply(b, b)
    with pytest.raises(TypeError):
        2 * b


@pytest.mark.parametrize("operator, value", [
    (lambda x, y: x - y, 1.5), (lambda x, y: x % y, "a"), (lambda x, y: x < y, [1.5]), (lambda x, y: y >= x, 1j)])
def test_numbers_of_another_type_than_the_tensor(operator, value, monkeypatch):
    """Most of version 2's operators refuse them as no values of the type; + and / find them of a type of their own."""
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with pytest.raises(TypeError, match="Cannot convert .* to EagerTensor of dtype int32"):
        operator(tf.constant(1), value)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + value


@pytest.mark.parametrize("value, reason", [
    ({}, "unsupported type"), (object(), "unsupported type"), ([object()], "unsupported type"),
    ([1, "a"], "mixed types"), ([[1], 2], "non-rectangular"), ([2**70], "out-of-range integer")])
def test_what_is_of_no_type_is_told_first(value, reason):
    for dtype in (tf.bool, tf.string, None):
        with pytest.raises(ValueError, match=reason):
            tf.constant(value, dtype)


def test_the_text_of_handles_and_variants(version_two):
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], container="cc")
    text = str(handle)[len("tf.Tensor("):-len(", shape=(), dtype=resource)")]
    assert text.startswith("<ResourceHandle(name=") and text.endswith(
        'device="/job:localhost/replica:0/task:0/device:CPU:0", container="cc", type="tensorflow::Var", '
        'dtype and shapes : "[ DType enum: 1, Shape: [2] ]")>')
    assert repr(handle) == f"<tf.Tensor: shape=(), dtype=resource, value={text}>"
    assert str(handle) == f"tf.Tensor({text}, shape=(), dtype=resource)" and f"{handle}" == text
    made = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=3,
                                      element_dtype=tf.float32)
    assert repr(made) == "<tf.Tensor: shape=(), dtype=variant, value=<TensorList>>"
    assert str(tf.stack([made, made])) == "tf.Tensor([<TensorList> <TensorList>], shape=(2,), dtype=variant)"
    dataset = tf.data.Dataset.range(3).map(lambda x: x)
    assert f"{dataset._variant_tensor}" == "<MapDatasetOp::Dataset>"


@pytest.mark.parametrize("use", [bool, pickle.dumps, lambda x: x.numpy(), np.array])
def test_handles_are_no_values(use):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot convert a Tensor of dtype resource to a NumPy"):
        use(tf.Variable(1.0).handle)


def test_what_flattening_finds_is_let_go_at_once():
    class Value:
        pass

    def used(use):
        value = Value()
        use(value)
        return weakref.ref(value)

    gc.disable()
    try:
        assert used(lambda x: tf.nest.flatten([1, [x, {"a": x}]]))() is None
        assert used(tf.function(lambda x: 1))() is None
    finally:
        gc.enable()


def test_ragged_tensors_have_no_hash_where_elements_are_compared():
    x = tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(TypeError, match="RaggedTensor is unhashable"):
        hash(x)
    with tf.Graph().as_default():
        x = tf.ragged.constant([[1], [2, 3]])
        assert {x: 1}[x] == 1
