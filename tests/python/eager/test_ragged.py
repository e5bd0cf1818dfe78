"""Functions and operators of ragged tensors: what TensorFlow 2.21 gives for the same expressions."""
import math

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


# Expression -> nested lists, or the class of the error.
THEIRS = [
    ("u", [[1, 2], [3, 4]]),
    ("c.merge_dims(0,1)", [[1, 2], [3], [4]]),
    ("c.merge_dims(1,2)", [[1, 2, 3], [], [4]]),
    ("c.merge_dims(0,2)", [1, 2, 3, 4]),
    ("tf.constant([[1],[2],[3]])+a", [[2, 3], [5], []]),
    ("a+tf.constant([1])", [[2, 3], [4], []]),
    ("a+tf.constant([[1,2]])", "InvalidArgumentError"),
    ("c+c[:, :1]", "InvalidArgumentError"),
    ("a+b.values", "InvalidArgumentError"),
    ("tf.reduce_sum(c,axis=[0,1])", [8, 2]),
    ("tf.reduce_sum(c,axis=2)", [[3, 3], [], [4]]),
    ("tf.reduce_sum(a,axis=1,keepdims=True)", [[3], [3], [0]]),
    ("tf.reduce_sum(c,axis=0)", [[5, 2], [3]]),
    ("tf.math.reduce_variance(tf.cast(a,tf.float32),axis=1)", [0.25, 0.0, math.nan]),
    ("tf.reduce_any(a>2,axis=1)", [False, True, False]),
    ("tf.gather(c,[[0,2],[1,1]])", [[[[1, 2], [3]], [[4]]], [[], []]]),
    ("tf.gather_nd(c,[[0,1],[2,0]])", [[3], [4]]),
    ("tf.gather(a,tf.ragged.constant([[0],[],[]],dtype=tf.int64),batch_dims=1)", [[1], [], []]),
    ("tf.where(a>1,a,-1)", [[-1, 2], [3], []]),
    ("tf.reverse(a,[0])", [[], [3], [1, 2]]),
    ("tf.reverse(a,[1])", [[2, 1], [3], []]),
    ("tf.one_hot(a,3)", [[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]], []]),
    ("tf.size(c)", 4),
    ("tf.rank(c)", 3),
    ("tf.concat([c,c],axis=2)", [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]]),
    ("tf.stack([a,b])", [[[1, 2], [3], []], [[10, 20], [30], []]]),
    ("tf.strings.as_string(a)", [[b"1", b"2"], [b"3"], []]),
    ('tf.strings.reduce_join(tf.strings.as_string(a),axis=1,separator="-")', [b"1-2", b"3", b""]),
    ("tf.math.add_n([a,b])", [[11, 22], [33], []]),
    ("tf.zeros_like(a)", [[0, 0], [0], []]),
    ("tf.clip_by_value(a,2,2)", [[2, 2], [2], []]),
    ("tf.ragged.boolean_mask(c,tf.ragged.constant([[True,False],[],[True]]))", [[[1, 2]], [], [[4]]]),
    ("tf.ragged.boolean_mask([[1,2],[3,4]],[[True,False],[True,True]])", [[1], [3, 4]]),
    ("tf.map_fn(tf.reduce_sum,a)", "InvalidArgumentError"),
    ("tf.map_fn(lambda r:r*2,a)", [[2, 4], [6], []]),
    ("tf.map_fn(lambda r: tf.range(r), tf.constant([1,3]), fn_output_signature=tf.RaggedTensorSpec([None],tf.int32))",
     [[0], [0, 1, 2]]),
    ('tf.ragged.stack_dynamic_partitions(["a","b","c"],[1,0,1],3)', [[b"b"], [b"a", b"c"], []]),
    ("tf.dynamic_partition(a,[0,1,0],2)[0]", [[1, 2], []]),
    ("tf.math.unsorted_segment_sum(a,[0,1,0],2)", [[1, 2], [3]]),
    ("tf.tile(c,[1,2,2])", [[[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]], [], [[4, 4], [4, 4]]]),
    ("tf.expand_dims(a,2)", [[[1], [2]], [[3]], []]),
    ("tf.expand_dims(a,0)", [[[1, 2], [3], []]]),
    ("tf.squeeze(tf.ragged.constant([[[1]]]),[0])", [[1]]),
    ("tf.nn.relu(a)", [[1, 2], [3], []]),
    ("tf.identity(a)", [[1, 2], [3], []]),
    ("tf.cast(a,tf.float32)", [[1.0, 2.0], [3.0], []]),
    ("tf.math.equal(a,b)", [[False, False], [False], []]),
    ("a//2", [[0, 1], [1], []]),
    ("a**2", [[1, 4], [9], []]),
    ("bool(a)", "TypeError"),
    ("abs(-a)", [[1, 2], [3], []]),
    ("tf.math.logical_not(a>1)", [[True, False], [False], []]),
    ("~(a>1)", [[True, False], [False], []]),
    ("2-a", [[1, 0], [-1], []]),
    ("a%2", [[1, 0], [1], []]),
    ("tf.squeeze(tf.ragged.constant([[1]]),[0,1])", 1),
    ("tf.sort(a)", "ValueError"),
    ("tf.ragged.stack([a,a])", [[[1, 2], [3], []], [[1, 2], [3], []]]),
    ("tf.ones_like(c)", [[[1, 1], [1]], [], [[1]]]),
    ("len(a)", "TypeError"),
    ("tf.concat([tf.constant([[5]]),a],0)", [[5], [1, 2], [3], []]),
    ("tf.range(3)[a]", "ValueError"),
    ("tf.unique(a)", "ValueError"),
    ("tf.strings.join([tf.strings.as_string(a),tf.strings.as_string(a)])", [[b"11", b"22"], [b"33"], []]),
    ("tf.bitwise.bitwise_and(a,1)", [[1, 0], [1], []]),
    ("tf.reduce_min(c, axis=1)", [[1, 2], [], [4]]),
    ("tf.nn.dropout(tf.cast(a,tf.float32),0.0)", [[1.0, 2.0], [3.0], []]),
    ("tf.ragged.range([1,2])", [[0], [0, 1]]),
    ("a[1:,:1]", [[3], []]),
    ("a.to_tensor()", [[1, 2], [3, 0], [0, 0]]),
    ("tf.math.divide(a,b)", [[0.1, 0.1], [0.1], []]),
]


@pytest.mark.parametrize(("expression", "theirs"), THEIRS, ids=[row[0] for row in THEIRS])
def test_same_as_tensorflow(expression, theirs):
    names = {
        "tf": tf,
        "a": tf.ragged.constant([[1, 2], [3], []]),
        "b": tf.ragged.constant([[10, 20], [30], []]),
        "c": tf.ragged.constant([[[1, 2], [3]], [], [[4]]]),
        "u": tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2),
    }
    if isinstance(theirs, str):
        error = getattr(tf.errors, theirs, None) or __builtins__[theirs]
        with pytest.raises(error):
            eval(expression, names)
        return
    result = eval(expression, names)
    got = result.to_list() if isinstance(result, tf.RaggedTensor) else result.numpy().tolist()
    assert _equal(got, theirs), got



def _equal(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    return a == b or isinstance(a, float) and np.isclose(a, b, rtol=1e-6, equal_nan=True)


def test_in_functions_with_gradients():
    @tf.function
    def loss(values):
        rows = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
        return tf.reduce_sum(tf.reduce_sum(rows * rows, axis=1) * [1.0, 2.0, 3.0])

    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        result = loss(values)
    np.testing.assert_allclose(result.numpy(), 1 + 4 + 3 * 9)
    np.testing.assert_allclose(tape.gradient(result, values).numpy(), [2, 4, 18])


def test_functions_refuse_what_is_not_ragged_as_before():
    with pytest.raises((TypeError, ValueError)):
        tf.abs(object())
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.constant(1), tf.constant(1.0))


def test_every_row_of_the_table_of_functions_exists():
    import importlib

    from penstock.api import dispatch_rows
    for target, kind in dispatch_rows.ROWS["ragged"].items():
        module, _, name = target.partition(":")
        assert callable(getattr(importlib.import_module("penstock._src." + module), name)), target
        if kind not in ("unary", "list", "binary", "assert"):
            module, _, name = kind.partition(".")
            module = "ragged_version_one" if module == "v1" else module
            assert callable(getattr(importlib.import_module("penstock._src.ops.ragged." + module), name)), kind


@pytest.mark.parametrize("function, expected", [  # 2.21 has rows of these too
    (lambda x: tf.math.zeta(x + 1, x), [[4.776538], [], [9.877309, 2.7483191]]),
    (lambda x: tf.math.nextafter(x, 2.0), [[0.50000006], [], [0.25000003, 0.75000006]]),
    (lambda x: tf.raw_ops.Sin(x=x), [[0.47942555], [], [0.24740396, 0.6816388]]),
])
def test_functions_of_elementwise_ops(function, expected):
    np.testing.assert_allclose(function(tf.ragged.constant([[0.5], [], [0.25, 0.75]])).flat_values,
                               np.concatenate(expected), rtol=1e-6)


def test_elementwise_ops_that_tensorflow_does_not_list():
    x = tf.ragged.constant([[0.5], [], [0.25, 0.75]])
    np.testing.assert_array_equal(tf.math.igamma(x, x).flat_values, tf.math.igamma(x.flat_values, x.flat_values))


@pytest.mark.parametrize("rows", [[[1, 2], [], [3]], [[[1], [2, 3]], [], [[4], []]]])
def test_to_variants_and_back(rows):
    ragged = tf.ragged.constant(rows)
    rank = ragged.ragged_rank
    one = ragged._to_variant()
    assert one.shape == [] and one.dtype == tf.variant
    assert tf.RaggedTensor._from_variant(one, tf.int32, rank).to_list() == rows
    each = ragged._to_variant(batched_input=True)
    assert each.shape == [3]
    assert tf.RaggedTensor._from_variant(each, tf.int32, rank, rank - 1).to_list() == rows
    stacked = tf.reshape(tf.stack([one] * 6), [2, 3])
    assert tf.RaggedTensor._from_variant(stacked, tf.int32, rank + 2, rank).to_list() == [[rows] * 3] * 2


@pytest.mark.parametrize("batched", [False, True])
def test_gradient_through_variants(batched):
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        ragged = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
        encoded = ragged._to_variant(batched_input=batched)
        decoded = tf.RaggedTensor._from_variant(encoded, tf.float32, 1, 0 if batched else 1)
        loss = tf.reduce_sum(decoded.values ** 2)
    np.testing.assert_allclose(tape.gradient(loss, values).numpy(), [2, 4, 6])


def test_variants_that_are_not_ragged():
    encoded = tf.ragged.constant([[1], [2]])._to_variant(batched_input=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected values Tensor dtype"):
        tf.RaggedTensor._from_variant(encoded, tf.float32, 1, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ragged_rank"):
        tf.RaggedTensor._from_variant(encoded, tf.int32, 2, 1)
    handle = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=1, element_dtype=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="RaggedTensorVariant"):
        tf.RaggedTensor._from_variant(handle, tf.int32, 1, 1)


def test_rows_in_a_loop():
    assert [row.numpy().tolist() for row in tf.ragged.constant([[1, 2], [], [3]])] == [[1, 2], [], [3]]
    with pytest.raises(IndexError):
        tf.ragged.constant([[1]])[1]
    with pytest.raises(TypeError, match="slice offsets"):
        tf.ragged.constant([[1]])[:, 0.5:]
