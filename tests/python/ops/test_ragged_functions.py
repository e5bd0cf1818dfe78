"""Functions of version 2 on ragged tensors: TensorFlow 2.21's values."""
import subprocess
import sys

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


ROWS = [[1.5, -2.0], [], [0.25]]


@pytest.mark.parametrize("function, want", [  # TensorFlow 2.21's values
    (lambda tf, r: tf.nn.silu(r), [[1.2263618, -0.2384058], [], [0.1405441]]),
    (lambda tf, r: tf.nn.gelu(r), [[1.3997892, -0.0455003], [], [0.1496766]]),
    (lambda tf, r: tf.math.erfinv(r / 4), [[0.3456171, -0.4769363], [], [0.0554460]]),
    (lambda tf, r: tf.math.bessel_i0(r), [[1.6467232, 2.2795854], [], [1.0156863]]),
    (lambda tf, r: tf.math.xlogy(r, 2.0), [[1.0397208, -1.3862944], [], [0.1732868]]),
    (lambda tf, r: tf.math.multiply_no_nan(r, r), [[2.25, 4.0], [], [0.0625]]),
    (lambda tf, r: tf.nn.sigmoid_cross_entropy_with_logits(r, r), [[-0.5485868, -3.8730719], [], [0.7634394]]),
    (lambda tf, r: tf.image.convert_image_dtype(r, tf.float64), ROWS),
], ids=["silu", "gelu", "erfinv", "bessel_i0", "xlogy", "multiply_no_nan", "cross_entropy", "convert_image_dtype"])
def test_functions_of_each_element_take_ragged_tensors(function, want):
    got = function(tf, tf.ragged.constant(ROWS)).to_list()
    assert [len(row) for row in got] == [len(row) for row in want]
    np.testing.assert_allclose(sum(got, []), sum(want, []), rtol=2e-6)


def test_checks_take_ragged_tensors():
    ragged = tf.ragged.constant(ROWS)
    tf.debugging.assert_equal(ragged, ragged)
    tf.debugging.assert_less(ragged, ragged + 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(ragged, ragged)


def test_reduce_logsumexp_of_ragged_rows():
    ragged = tf.ragged.constant([[1.0, 2.0], [500.0], []])
    got = tf.reduce_logsumexp(ragged, 1)
    np.testing.assert_allclose(got[:2], [np.log(np.exp(1) + np.exp(2)), 500.0], rtol=1e-6)
    assert tf.reduce_logsumexp(ragged, 1, keepdims=True).shape.as_list() == [3, 1]
    with tf.GradientTape() as tape:
        tape.watch(ragged.values)
        total = tf.reduce_logsumexp(ragged, 1)[0]
    gradient = tf.convert_to_tensor(tape.gradient(total, ragged.values))
    np.testing.assert_allclose(gradient, [0.26894143, 0.7310586, 0.0], rtol=1e-5)


def test_gather_of_ragged_rows_by_a_scalar_and_along_inner_axes():
    ragged = tf.ragged.constant([[1, 2], [5], [3, 4]])
    assert tf.gather(ragged, 2).numpy().tolist() == [3, 4]
    assert tf.gather(ragged, [0], axis=1).numpy().tolist() == [[1], [5], [3]]
    assert tf.gather(ragged, 0, axis=-1).numpy().tolist() == [1, 5, 3]
    deep = tf.ragged.constant([[[1, 2], [3]], [[4]], [[5, 6], [7]]])
    assert tf.gather(deep, 1).to_list() == [[4]]
    assert tf.gather(deep, [0], axis=1).to_list() == [[[1, 2]], [[4]], [[5, 6]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index out of range"):
        tf.gather(ragged, [1], axis=1)


@pytest.mark.parametrize("rank", range(3))
def test_gather_by_ragged_indices_along_inner_axes(rank):
    numbers = np.arange(24).reshape(2, 3, 4)
    params = tf.RaggedTensor.from_tensor(numbers, ragged_rank=rank) if rank else tf.constant(numbers)
    for axis, rows in ((1, [[0, 1], [2]]), (1, [[[2], []], [[0, 1]]]), (2, [[0, 3, 1], []]), (-1, [[1], [0, 2]])):
        def found(part, axis=axis % 3, rows=rows):
            if axis:
                return [found(each, axis - 1) for each in part]
            return [found(part, 0, each) if isinstance(each, list) else part[each].tolist() for each in rows]

        assert tf.gather(params, tf.ragged.constant(rows), axis=axis).to_list() == found(numbers)
    wide = tf.RaggedTensor.from_tensor([[0, 1], [2, 0]], ragged_rank=1)
    assert tf.gather(tf.ragged.constant([[1, 2, 3]]), wide, axis=1).to_list() == [[[1, 2], [3, 1]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Index out of range"):
        tf.gather(tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1]]), axis=1)


def test_dense_shapes_with_tensors():
    ragged = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
    assert ragged.to_tensor(shape=[2, tf.constant(2)]).numpy().tolist() == [[1, 2], [4, 0]]
    assert ragged.to_tensor(shape=(None, tf.constant(2))).numpy().tolist() == [[1, 2], [4, 0], [5, 6]]


def test_a_ragged_tensor_is_a_tensor_whose_new_dimensions_are_uniform():
    ragged = tf.ragged.constant([[1, 2], [5], [3, 4]])
    assert tf.is_tensor(ragged) and tf.is_tensor(tf.sparse.from_dense([1])) and not tf.is_tensor([1])
    assert tf.expand_dims(ragged, 1).shape.as_list() == [3, 1, None]
    assert tf.expand_dims(ragged, 0).shape.as_list() == [1, 3, None]


def test_products_of_matrices_of_different_sizes():
    a = tf.ragged.constant([[[1.0, 2]], [[4, 5.0], [5, 6]]], ragged_rank=1)
    assert tf.matmul(a, tf.ones([2, 2, 1])).to_list() == [[[3]], [[9], [11]]]
    assert tf.matmul(a, a, transpose_b=True).to_list() == [[[5]], [[41, 50], [50, 61]]]
    np.testing.assert_array_equal(tf.matmul(a, a, transpose_a=True), [[[1, 2], [2, 4]], [[41, 50], [50, 61]]])
    b = tf.ragged.constant([[[1.0, 2], [3, 4]], [[4, 5.0]]])
    assert tf.matmul(b, tf.ones([2, 2, 1])).to_list() == [[[3], [7]], [[9]]]
    four = tf.ragged.constant([[[[1.0, 2]]]], ragged_rank=2)
    assert tf.matmul(four, tf.ragged.constant([[[[1.0], [2]]]], ragged_rank=2)).to_list() == [[[[5]]]]
    np.testing.assert_array_equal(tf.matmul(tf.ragged.constant([[1.0, 2], [3, 4]]), tf.ones([2, 2])), [[3, 3], [7, 7]])
    for wrong in (a, tf.ragged.constant([[[1.0, 2], [3]], [[4]]])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.matmul(wrong, wrong)
    with pytest.raises(ValueError, match="same rank"):
        tf.matmul(a, tf.ones([2, 2]))
    with pytest.raises(ValueError, match="same dtype"):
        tf.matmul(a, tf.ones([2, 2, 2], tf.float64))


@pytest.mark.parametrize("rows, options, text", [
    ([[1, 2], [3]], {}, "[[1, 2], [3]]"), ([["a", "it's"], []], {}, r"[['a', 'it\'s'], []]"),
    ([[1.5], [True + 0.0]], {}, "[[1.500000], [1.000000]]"), ([[[1, 2], [3]], [[4]]], {}, "[[[1, 2], [3]], [[4]]]"),
    ([list(range(9)), [1]], {}, "[[0, 1, 2, ..., 6, 7, 8], [1]]"),
    ([[i] for i in range(7)], {"summarize": 1}, "[[0], ..., [6]]"),
    ([[i] for i in range(7)], {"summarize": -1}, "[[0], [1], [2], [3], [4], [5], [6]]")])
def test_texts_of_ragged_tensors(rows, options, text, capfd):
    ragged = tf.ragged.constant(rows)
    assert tf.strings.format("a {} b", ragged, **options).numpy().decode() == f"a {text} b"
    tf.print(ragged, "x", tf.constant([5]), **options)
    assert capfd.readouterr().err == f"{text} x [5]\n"


def test_images_of_different_sizes():
    images = tf.ragged.stack([tf.ones([2, 2, 1]), tf.ones([3, 1, 1]) * 2])
    resized = tf.image.resize(images, [2, 3])
    np.testing.assert_array_equal(resized, np.ones([2, 2, 3, 1]) * [[[[1]]], [[[2]]]])
    with pytest.raises(ValueError, match="rank must be 4"):
        tf.image.resize(images[0], [2, 3])


def test_small_things():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert tf.bitcast(ragged, tf.int32).to_list() == [[0x3F800000, 0x40000000], [0x40400000]]
    assert repr(ragged) == "<tf.RaggedTensor [[1.0, 2.0], [3.0]]>"
    assert repr(tf.ragged.constant([[1, 2], [3, 4]])) == "<tf.RaggedTensor [[1, 2],\n [3, 4]]>"
    assert repr(tf.ragged.constant([list(range(30))])).count("\n") == 1  # as wide as NumPy's lines
    nested = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    assert tf.gather(nested, [[1], [0]], axis=None, batch_dims=1).to_list() == [[[3]], [[4]]]
    with pytest.raises(ValueError, match="bad_indices_policy"):
        tf.gather_nd(ragged, [[0]], bad_indices_policy="ERROR")
    with pytest.raises(ValueError, match="outer_axis=3 out of bounds: expected -3<=outer_axis<3"):
        nested.merge_dims(3, 1)
    with pytest.raises(ValueError, match="same outer-dimension"):
        tf.ragged.map_flat_values(lambda x: x[0], ragged)


@pytest.mark.parametrize("params, indices, options, want", [  # TensorFlow 2.21's
    ([["a", "b"], ["c"], ["d", "e", "f", "g"]], [1, 0, 3], {"batch_dims": 1}, ["b", "c", "g"]),
    ([["a", "b"], ["c"]], [[1, 0], [0, 0]], {"batch_dims": 1}, [["b", "a"], ["c", "c"]]),
    ([["a", "b"], ["c"]], [[1, 0], []], {"batch_dims": 1}, [["b", "a"], []]),
    ([[["a", "b", "c"], ["d", "e"], ["f"]], [["g"], ["h", "i"]]], [[0, 1, 0], [0, 1]], {"batch_dims": 2},
     [["a", "e", "f"], ["g", "i"]]),
    ([[["a", "b", "c"], ["d", "e"], ["f"]], [["g"], ["h", "i"]]], [[[2, 1, 0], [1, 1], [0]], [[0], []]],
     {"batch_dims": 2}, [[["c", "b", "a"], ["e", "e"], ["f"]], [["g"], []]]),
    ([[["a", "b"], ["c", "d", "e"]], [["f", "g"], ["h", "i"], ["k", "l"]]], [1, 0], {"batch_dims": 1, "axis": 2},
     [["b", "d"], ["f", "h", "k"]]),
    ([[["a"], ["b", "c"]], [["d", "e", "f"], ["g"]]], [[[1, 0], []], [[0]]], {"batch_dims": 1},
     [[[["b", "c"], ["a"]], []], [[["d", "e", "f"]]]]),
    ([["a", "b"], ["c", "d", "e"]], [[1, 0], []], {"batch_dims": -1}, [["b", "a"], []])])
def test_gathering_within_batches(params, indices, options, want):
    try:
        indices = tf.constant(indices)
    except ValueError:
        indices = tf.ragged.constant(indices)
    got = tf.gather(tf.ragged.constant(params), indices, **options)
    got = got.to_list() if isinstance(got, tf.RaggedTensor) else got.numpy().tolist()

    def text(x):
        return x.decode() if isinstance(x, bytes) else [text(y) for y in x]
    assert text(got) == want


def test_no_row_is_read_beyond_its_end():
    ragged = tf.ragged.constant([["a"], ["b", "c"]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.gather(ragged, [[1], [0]], batch_dims=1)
    with pytest.raises(ValueError, match="batch shape from indices"):
        tf.gather(ragged, [1, 0, 0], batch_dims=1)


def test_one_hot_along_an_axis():
    ragged = tf.ragged.constant([[0, 1], [1]])
    for axis in (None, -1, 2):
        assert tf.one_hot(ragged, 2, axis=axis).to_list() == [[[1, 0], [0, 1]], [[0, 1]]]
    inner = tf.ragged.constant([[[0, 1]], [[1, 0], [0, 0]]], ragged_rank=1)
    assert tf.one_hot(inner, 3, axis=2).to_list() == [
        [[[1, 0], [0, 1], [0, 0]]], [[[0, 1], [1, 0], [0, 0]], [[1, 1], [0, 0], [0, 0]]]]
    assert tf.one_hot(inner, 2, axis=3).to_list() == [[[[1, 0], [0, 1]]], [[[0, 1], [1, 0]], [[1, 0], [1, 0]]]]
    with pytest.raises(ValueError, match="must be greater than indices.ragged_rank"):
        tf.one_hot(ragged, 2, axis=1)


def test_tiles_in_functions():
    ragged = tf.ragged.constant([[1, 2], [3]])
    want = [[1, 2, 1, 2], [3, 3], [1, 2, 1, 2], [3, 3]]
    assert tf.function(lambda x: tf.tile(x, [2, 2]))(ragged).to_list() == want
    assert tf.function(lambda x, n: tf.tile(x, n))(ragged, tf.constant([2, 2])).to_list() == want


def test_uniform_dimensions_are_known_behind_functions():
    ragged = tf.ragged.constant([[1, 2], [3]])
    for axis, shape in ((0, [1, 2, None]), (1, [2, 1, None]), (2, [2, None, 1])):
        assert tf.function(lambda x, axis=axis: tf.expand_dims(x, axis))(ragged).shape.as_list() == shape
        assert tf.expand_dims(ragged, axis).shape.as_list() == shape


def test_lengths_of_rows_that_are_all_the_same_stay_known(monkeypatch):
    monkeypatch.setattr("penstock._src.base.tf2.enabled", lambda: True)
    uniform = tf.RaggedTensor.from_tensor(np.zeros([3, 4, 5]), ragged_rank=2)
    assert uniform.shape.as_list() == [3, 4, 5] and (uniform + 1).shape.as_list() == [3, 4, 5]
    assert tf.RaggedTensor.from_tensor([[1, 0], [2, 3]], padding=0).shape.as_list() == [2, None]
    assert tf.add_n([uniform, uniform]).shape.as_list() == [3, 4, 5]
    dataset = tf.data.Dataset.from_tensor_slices(uniform).map(lambda x: x)
    assert dataset.element_spec.shape.as_list() == [4, 5]
    with pytest.raises(ValueError, match="Inconsistent size"):
        uniform._set_shape([None, 3, None])
    for shape in ([5, None, None], [None, None, 4], [3]):
        with pytest.raises(ValueError):
            uniform._set_shape(shape)


def test_rows_of_rows_of_datasets():
    rows = tf.data.Dataset.from_tensors(tf.ragged.constant([[0], [1], [2, 3]]))
    assert [x.numpy() for x in rows.unbatch().unbatch()] == [0, 1, 2, 3]
    seen = []
    three = tf.data.Dataset.from_tensors(tf.ragged.constant([[[0, 1]], [[2, 3], [4, 5]]], ragged_rank=1))
    list(three.map(lambda x: seen.append(x.shape.as_list()) or x))
    assert seen == [[2, None, 2]]
    assert tf.RaggedTensorSpec([None], tf.int32, 0).is_compatible_with(tf.constant([1, 2]))


def test_shapes_of_ragged_tensors_in_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        shape = tf.experimental.DynamicRaggedShape.from_lengths([3, (1, 0, 2)])
        results = [tf.broadcast_to(7, shape), tf.reshape([1, 2, 3], shape)]
        assert [x.to_list() for x in sess.run(results)] == [[[7], [], [7, 7]], [[1], [], [2, 3]]]


def test_rows_that_are_empty_are_filled():
    from penstock._src.ops.ragged import ragged_array_ops
    filled, empty = ragged_array_ops.fill_empty_rows(tf.ragged.constant([[], [1, 3], []], dtype=tf.int32), -1)
    assert filled.to_list() == [[-1], [1, 3], [-1]] and empty.numpy().tolist() == [True, False, True]
    with pytest.raises(TypeError, match="must be RaggedTensor"):
        ragged_array_ops.fill_empty_rows([1], -1)


def test_values_of_ragged_tensors():
    value = tf.compat.v1.ragged.constant_value([[1], [-1, 2]], np.uint64)  # numbers wrap around, as in TensorFlow
    assert value.values.tolist() == [1, 2**64 - 1, 2]
    parts = tf.split(tf.compat.v1.ragged.constant_value([[1], [2, 3]]), 2)
    assert [part.to_list() for part in parts] == [[[1]], [[2, 3]]]
    from penstock._src.ops.ragged import ragged_where_op
    assert ragged_where_op.where_v2([True, False], [1, 2], [3, 4]).numpy().tolist() == [1, 4]


def test_rows_that_do_not_fit_are_not_equal():
    script = """
import tensorflow as tf
a, b = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1], [2, 3]])
print(a == b, a != b, a == tf.zeros([5, 4, 3], tf.int32))
print((a == a).to_list(), (a != tf.ragged.constant([[1, 0], [3]])).to_list())
square = tf.constant([[1, 2], [3, 4]])
print((square == tf.ragged.constant([[1, 2], [3, 5]])).to_list(), square != a)
try:
    tf.debugging.assert_shapes([(square, (2, 3))])
except ValueError as e:
    print(str(e)[:20])
"""
    begin = "from penstock import alias; alias.install('v2')\n"
    out = subprocess.run([sys.executable, "-c", begin + script], capture_output=True, text=True, check=True).stdout
    assert out == "False True False\n[[True, True], [True]] [[False, True], [False]]\n" \
        "[[True, True], [True, False]] True\nSpecified explicitly\n"
