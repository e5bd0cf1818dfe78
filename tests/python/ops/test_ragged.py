"""Ragged tensors and the string functions that give them."""
import numpy as np
import pytest

import penstock.v1 as tf


def run(*fetches, feed=None):
    with tf.Session() as sess:
        return sess.run(fetches[0] if len(fetches) == 1 else list(fetches), feed)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


ROWS = [[1, 2], [], [3, 4, 5], [6]]
FLAT = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("make, partition", [
    ("row_splits", [0, 2, 2, 5, 6]), ("row_lengths", [2, 0, 3, 1]), ("value_rowids", [0, 0, 2, 2, 2, 3]),
    ("row_starts", [0, 2, 2, 5]), ("row_limits", [2, 2, 5, 6])])
def test_made_from_a_partition(make, partition):
    rt = getattr(tf.RaggedTensor, "from_" + make)(FLAT, partition)
    value, parts = run(rt), run(rt.row_splits, rt.row_lengths(), rt.value_rowids(), rt.row_starts(), rt.row_limits(),
                                rt.nrows(), rt.bounding_shape())
    assert value.to_list() == ROWS
    assert [p.tolist() for p in parts] == [
        [0, 2, 2, 5, 6], [2, 0, 3, 1], [0, 0, 2, 2, 2, 3], [0, 2, 2, 5], [2, 2, 5, 6], 4, [4, 3]]
    assert rt.shape.as_list()[1:] == [None] and rt.ragged_rank == 1


@pytest.mark.parametrize("make, partition", [
    ("row_splits", [0, 3, 2, 6]), ("row_splits", [1, 6]), ("row_splits", [0, 5]), ("row_lengths", [-1, 7]),
    ("row_lengths", [1, 2]), ("value_rowids", [0, 0, 1, 0, 2, 2]), ("row_starts", [0, 7]), ("row_limits", [3, 2, 6])])
def test_bad_partitions(make, partition):
    x = tf.placeholder(tf.int64, [None])
    rt = getattr(tf.RaggedTensor, "from_" + make)(FLAT, x)
    message = f"Arguments to from_{make} do not form a valid RaggedTensor"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(rt, feed={x: partition})


def test_constants():
    rt = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    assert rt.ragged_rank == 2 and run(rt).to_list() == [[[1, 2], []], [], [[3]]]
    inner = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert inner.shape.as_list() == [2, None, 2] and run(inner).to_list() == [[[1, 2]], [[3, 4], [5, 6]]]
    value = tf.ragged.constant_value([["a"], []])
    assert value.shape == (2, None) and value.to_list() == [["a"], []]
    x = tf.ragged.placeholder(tf.int32, 1)
    assert run(x.with_values(x.values * 2), feed={x: tf.ragged.constant_value(ROWS, dtype=np.int32)}).to_list() == [
        [2, 4], [], [6, 8, 10], [12]]
    for bad in ([[1], [[2]]], [[[]], [1]], [1, [2]]):
        with pytest.raises(ValueError):
            tf.ragged.constant(bad)


def test_dense_and_back():
    rt = tf.ragged.constant(ROWS)
    assert run(rt.to_tensor(-1)).tolist() == [[1, 2, -1], [-1, -1, -1], [3, 4, 5], [6, -1, -1]]
    assert run(rt.to_tensor(shape=[None, 2])).tolist() == [[1, 2], [0, 0], [3, 4], [6, 0]]
    nested = tf.ragged.constant([[[1], [2, 3]], []])
    assert run(nested.to_tensor()).tolist() == [[[1, 0], [2, 3]], [[0, 0], [0, 0]]]
    inner = tf.ragged.constant([[[1, 2]], []], ragged_rank=1)
    assert run(inner.to_tensor([7, 8])).tolist() == [[[1, 2]], [[7, 8]]]
    dense = tf.constant([[1, 2, 0], [0, 0, 0], [3, 0, 4]])
    assert run(tf.RaggedTensor.from_tensor(dense, padding=0)).to_list() == [[1, 2], [], [3, 0, 4]]
    assert run(tf.RaggedTensor.from_tensor(dense, lengths=[1, 9, 2])).to_list() == [[1], [0, 0, 0], [3, 0]]
    assert run(tf.RaggedTensor.from_tensor(tf.zeros([2, 3, 1]), ragged_rank=2)).to_list() == [[[0], [0], [0]]] * 2


def test_sparse_and_back():
    sparse = run(tf.ragged.constant([[[1], [2, 3]], [], [[4]]]).to_sparse())
    assert sparse.indices.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 0]]
    assert sparse.values.tolist() == [1, 2, 3, 4] and sparse.dense_shape.tolist() == [3, 2, 2]
    back = tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 9]))
    assert run(back).to_list() == [[1, 2], [], [3], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        run(tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])))


@pytest.mark.parametrize("key", [
    (0,), (2,), (-1,), (slice(1, 3),), (slice(None, None, 2),), (slice(None, None, -1),), (2, 1), (2, slice(1, None)),
    (slice(None), slice(1, None)), (slice(None), slice(None, -1)), (slice(None), slice(-2, None)),
    (slice(None), slice(None, 2)), (slice(None), slice(None, None, 2)), (slice(None), slice(None, None, -1)),
    (slice(1, 4), slice(0, 1)), (slice(4, 9),),
    (slice(3, 1),)])
def test_slices(key):
    value = run(tf.ragged.constant(ROWS)[key])
    expected = ROWS[key[0]]
    if len(key) > 1:
        expected = [row[key[1]] for row in expected] if isinstance(key[0], slice) else expected[key[1]]
    assert (value.to_list() if hasattr(value, "to_list") else value.tolist()) == expected


def test_slices_of_nested_rows():
    rows = [[[1], [2, 3]], [], [[4, 5, 6]]]
    rt = tf.ragged.constant(rows)
    assert run(rt[2, 0]).tolist() == [4, 5, 6]
    assert run(rt[..., 1:]).to_list() == [[[], [3]], [], [[5, 6]]]
    assert run(rt[:, :1]).to_list() == [[[1]], [], [[4, 5, 6]]]
    assert run(rt[:, tf.newaxis]).to_list() == [[row] for row in rows]
    for inner in (0, "a", 1.5):
        with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
            rt[:, inner]


@pytest.mark.parametrize("key, message", [
    ("a", "Only integers, slices"), (slice(None, None, "a"), "Only integers, slices"), (slice(1, 2.5), "got 2.5"),
    ((slice(None), slice(None, None, "a")), "slice strides must be integers or None"),
    ((slice(None), slice(None, "a")), "slice offsets must be integers or None"), ((0, 0.5), "got 0.5")])
def test_wrong_keys(key, message):
    with pytest.raises(TypeError, match=message):
        tf.ragged.constant([[1, 2], [3]])[key]


def test_what_does_not_fit_a_dense_tensor_is_refused_when_it_is_built():
    rt = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match="default_value.rank = 1  must be less than rt_input.flat_values.rank = 1"):
        rt.to_tensor([1, 2, 3])
    with pytest.raises(ValueError, match="rt_input.rank = 2 but shape.rank = 3"):
        rt.to_tensor(shape=[None, None, None])
    pairs = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    with pytest.raises(ValueError, match="are incompatible"):
        pairs.to_tensor([7, 8, 9])
    assert run(pairs.to_tensor([7, 8])).tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]


def test_the_constructor_takes_tensors_only():
    with pytest.raises(TypeError, match="Cached value must be a Tensor or None."):
        tf.RaggedTensor(tf.constant([1]), tf.constant([0, 1], tf.int64), cached_row_lengths=[1], internal=True)


def test_map_flat_values():
    a, b = tf.ragged.constant(ROWS), tf.ragged.constant([[10, 20], [], [30, 40, 50], [60]])
    assert run(tf.ragged.map_flat_values(tf.add, a, y=b)).to_list() == [[11, 22], [], [33, 44, 55], [66]]
    x = tf.ragged.placeholder(tf.int32, 1)
    other = tf.ragged.constant_value([[1], [2], [3, 4], [5, 6]], dtype=np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inputs must have identical ragged splits"):
        run(tf.ragged.map_flat_values(tf.add, a, x), feed={x: other})


def test_ranges():
    assert run(tf.ragged.range([0, 5, 8], [3, 3, 12])).to_list() == [[0, 1, 2], [], [8, 9, 10, 11]]
    assert run(tf.ragged.range([3, 0], [0, 1], [-1, 1])).to_list() == [[3, 2, 1], [0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
        run(tf.ragged.range([0], [1], [0]))


def test_gather_and_its_gradient():
    flat = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    out = tf.raw_ops.RaggedGather(params_nested_splits=[tf.constant([0, 2, 2, 5, 6], tf.int64)],
                                  params_dense_values=flat, indices=[2, 0, 2], OUTPUT_RAGGED_RANK=1)
    grad = tf.convert_to_tensor(tf.gradients(out.output_dense_values, flat, tf.range(1.0, 9.0))[0])
    splits, values, g = run(out.output_nested_splits[0], out.output_dense_values, grad)
    assert splits.tolist() == [0, 3, 5, 8] and values.tolist() == [3, 4, 5, 1, 2, 3, 4, 5]
    assert g.tolist() == [4, 5, 1 + 6, 2 + 7, 3 + 8, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 4 is not in \[0, 4\)"):
        run(tf.raw_ops.RaggedGather(params_nested_splits=[tf.constant([0, 2, 2, 5, 6], tf.int64)],
                                    params_dense_values=flat, indices=[4], OUTPUT_RAGGED_RANK=1).output_dense_values)


def test_gradients_of_conversions():
    flat = tf.constant([1.0, 2.0, 3.0, 4.0])
    rt = tf.RaggedTensor.from_row_splits(flat, [0, 1, 4], validate=False)
    default = tf.constant(0.5)
    dense = rt.to_tensor(default, shape=[2, 2])
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert [g.tolist() for g in run(tf.gradients(dense * weights, [flat, default]))] == [[1, 3, 4, 0], 2]
    assert run(tf.gradients(rt.to_sparse().values, flat, tf.constant([1.0, 2.0, 3.0, 4.0]))[0]).tolist() == [1, 2, 3, 4]


def test_bad_input_of_conversions():
    raw = tf.raw_ops
    for splits in ([0, 9], [1, 2], [0, 2, 1, 2], []):
        x = tf.placeholder(tf.int64, [None])
        out = raw.RaggedTensorToSparse(rt_nested_splits=[x], rt_dense_values=[1, 2])
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(out, feed={x: splits})
        out = raw.RaggedTensorToTensor(shape=tf.constant(-1, tf.int64), values=[1, 2], default_value=0,
                                       row_partition_types=["ROW_SPLITS"], row_partition_tensors=[x])
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(out, feed={x: splits})


def test_value_rowids_to_tensor():
    out = tf.raw_ops.RaggedTensorToTensor(
        shape=tf.constant([4, -1], tf.int64), values=[1, 2, 3], default_value=9,
        row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
        row_partition_tensors=[tf.constant(3, tf.int64), tf.constant([0, 0, 2], tf.int64)])
    assert run(out).tolist() == [[1, 2], [9, 9], [3, 9], [9, 9]]


def test_strings():
    words = ["a é", "", "bc d"]
    assert run(tf.strings.split(words, result_type="RaggedTensor")).to_list() == [
        [b"a", "é".encode()], [], [b"bc", b"d"]]
    assert run(tf.strings.split(words)).values.tolist() == [b"a", "é".encode(), b"bc", b"d"]
    assert run(tf.strings.bytes_split(["ab", "", "c"])).to_list() == [[b"a", b"b"], [], [b"c"]]
    assert run(tf.strings.bytes_split("ab")).tolist() == [b"a", b"b"]
    assert run(tf.strings.unicode_decode(words, "UTF-8")).to_list() == [[97, 32, 233], [], [98, 99, 32, 100]]
    assert run(tf.strings.unicode_decode([["é"], ["b"]], "UTF-8")).to_list() == [[[233]], [[98]]]
    points, starts = run(tf.strings.unicode_decode_with_offsets("éa", "UTF-8"))
    assert points.tolist() == [233, 97] and starts.tolist() == [0, 2]
    assert run(tf.strings.unicode_split(["éa", ""], "UTF-8")).to_list() == [["é".encode(), b"a"], []]
    encoded = run(tf.strings.unicode_encode(tf.ragged.constant([[233, 97], []]), "UTF-8"))
    assert encoded.tolist() == ["éa".encode(), b""]
    assert run(tf.strings.unicode_encode([97, 98], "UTF-16-BE")) == b"\0a\0b"
    assert run(tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2, pad_values=("<", ">"))).to_list() == [
        [b"< a", b"a b", b"b c", b"c >"], [b"< d", b"d >"]]
    assert run(tf.strings.ngrams(["a", "b", "c"], [1, 2], separator="")).tolist() == [b"a", b"b", b"c", b"ab", b"bc"]


def test_gradient_without_partitions_is_refused():
    values = tf.constant([1.0, 2.0])
    out = tf.raw_ops.RaggedTensorToTensor(
        shape=tf.constant(-1, tf.int64), values=values, default_value=0.0, row_partition_types=[],
        row_partition_tensors=[tf.constant([0, 2], tf.int64)])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="No row_partition_types"):
        tf.gradients(out, values)


def test_functions_of_ops_take_ragged_tensors():
    from penstock._src.graph import gen
    x = tf.ragged.constant([[1, 2], [4]])
    mask = gen.logical_and(x > 1, x < 4)
    assert run(mask).to_list() == [[False, True], [False]]
    assert run(tf.raw_ops.Invert(x=x)).to_list() == [[-2, -3], [-5]]
    assert run(gen.string_strip(input=tf.ragged.constant([[" a"], []]))).to_list() == [[b"a"], []]
    assert run(gen.sqrt(tf.cast(x, tf.float64))).flat_values.tolist() == [1, np.sqrt(2), 2]
    with pytest.raises(TypeError, match="LogicalAnd"):
        gen.logical_and(x, "a")


def test_functions_take_ragged_values():
    value = tf.ragged.constant_value([[1.0, 3.0], [5.0]])
    assert run(tf.reduce_mean(value, axis=1)).tolist() == [2, 5]
    assert run(tf.math.unsorted_segment_mean(value, [0, 0], 1)).to_list() == [[3, 3]]
    assert run(tf.reduce_any(tf.ragged.constant_value([[False, True], []]), axis=1)).tolist() == [True, False]


@pytest.mark.parametrize("multiples", [[2, 1], [3, 2], [0, 2]])
def test_tile_knows_its_number_of_rows(multiples):
    x = tf.ragged.constant([[1, 2], [3], []])
    tiled = tf.tile(x, multiples)
    assert tiled.shape.as_list() == [3 * multiples[0], None]
    assert run(tiled).to_list() == [row * multiples[1] for row in run(x).to_list()] * multiples[0]


@pytest.mark.parametrize("step", [1, 2, -1])
def test_rows_by_a_step_that_is_not_known(step):
    rows = [[[1], [2]], [], [[3]], [[4], [5]]]
    given = tf.placeholder_with_default(step, [])
    assert run(tf.ragged.constant(rows)[slice(None, None, given)]).to_list() == rows[::step]


def test_to_tensor_of_a_shape_that_is_a_tensor():
    x = tf.ragged.constant([[0, 1, 2, 3], [], [4], []])
    dense = x.to_tensor(shape=tf.constant([2, 3]))
    assert dense.shape == [2, 3] and run(dense).tolist() == [[0, 1, 2], [0, 0, 0]]
    assert run(x.to_tensor(-1, shape=tf.placeholder_with_default([-1, 2], [2]))).tolist() == [
        [0, 1], [-1, -1], [4, -1], [-1, -1]]


def test_crosses():
    """Expected values are TensorFlow 2.21's."""
    a, s = tf.ragged.constant([["a"], ["b", "c"]]), tf.sparse.from_dense([["x", ""], ["y", "z"]])
    d, n = tf.constant([["p", "q"], ["r", "t"]]), tf.constant([[1], [2]])
    rows = run(tf.ragged.cross([a, s, d])).to_list()
    assert rows[0] == [b"a_X_x_X_p", b"a_X_x_X_q"] and len(rows[1]) == 8 and rows[1][1] == b"b_X_y_X_t"
    assert run(tf.ragged.cross([n, d])).to_list() == [[b"1_X_p", b"1_X_q"], [b"2_X_r", b"2_X_t"]]
    hashed = tf.ragged.cross_hashed([a, d])
    assert run(hashed).to_list() == [
        [4089123451898400360, 5772008083553757323],
        [4528061004646853358, 3421677562213018365, 4302532056514807790, 8458901317202367574]]
    assert run(tf.ragged.cross_hashed([n, d], num_buckets=100, hash_key=1)).to_list() == [[89, 70], [4, 69]]
    narrow = tf.ragged.cross([tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32)])
    assert narrow.row_splits.dtype == tf.int32 and run(narrow).to_list() == [[b"1", b"2"], [b"3"]]
    with pytest.raises(TypeError, match="must be a list"):
        tf.ragged.cross(a)
    with pytest.raises(ValueError, match=r"Unexpected dtype for inputs\[0\]"):
        tf.ragged.cross([tf.constant([[1.0]])])
    with pytest.raises(ValueError, match="rank=2"):
        tf.ragged.cross([tf.ragged.constant([[["a"]]])])
    assert run(tf.ragged.cross([])).to_list() == []
    for wrong in ([a, tf.constant([["p"]])], [tf.constant(["p"])]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.ragged.cross(wrong))
    splits = tf.placeholder_with_default(tf.constant([0, 3], tf.int64), [2])
    broken = tf.RaggedTensor.from_row_splits(["a", "b"], splits, validate=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="[Ss]plits must"):
        run(tf.ragged.cross([broken]))


def test_softmax():
    import penstock
    rows = [[1.0, 2.0], [], [1003.0, 1004.0, 1005.0]]
    exps = [np.exp(np.array(row) - max(row, default=0)) for row in rows]
    got = run(penstock.nn.softmax(tf.ragged.constant(rows, tf.float64))).to_list()
    for row, e in zip(got, exps):
        np.testing.assert_allclose(row, e / e.sum())
    inner = run(penstock.nn.softmax(tf.ragged.constant([[[1.0, 2.0], [3.0]], [[4.0]]]))).to_list()
    np.testing.assert_allclose(inner[0][0], exps[0] / exps[0].sum(), rtol=1e-6)
    assert inner[0][1] == [1] and inner[1] == [[1]]


def test_more_ragged_dimensions_than_lists_have():  # tfsa-2022-079
    for make in (tf.ragged.constant, tf.ragged.constant_value):
        with pytest.raises(ValueError, match=r"pylist=\[\[1\], \[2, 3\]\], max depth smaller than ragged_rank=3"):
            make([[1], [2, 3]], ragged_rank=3)
        with pytest.raises(ValueError, match="max depth smaller than ragged_rank=4611686018427387904"):
            make([[1], [2, 3]], ragged_rank=2**62)
        with pytest.raises(ValueError, match="Invalid ragged_rank=4611686018427387904: a tensor has at most 254 dim"):
            make([[], []], dtype="int32", ragged_rank=2**62)  # TensorFlow does not come to an end
        assert make([[], []], dtype="int32", ragged_rank=5).ragged_rank == 5
    with pytest.raises(ValueError, match="Invalid ragged_rank"):
        tf.ragged.placeholder(tf.float32, 2**62)


def test_the_parts_of_one_string():
    parts = tf.strings.split("a b", result_type="RaggedTensor")  # as in 1.15.5, which fails for a sparse one
    assert isinstance(parts, tf.Tensor) and run(parts).tolist() == [b"a", b"b"]
    assert run(tf.strings.split("a b")).dense_shape.tolist() == [1, 2]
