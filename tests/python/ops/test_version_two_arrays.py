"""Arrays as programs of version 2 make, index and convert them. The values are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")


def both(function):
    """What a function gives eagerly, after it was found to give the same as a tf.function."""
    eager = np.asarray(function())
    np.testing.assert_array_equal(tf.function(function, autograph=False)(), eager)
    return eager


def test_saturated_casts():
    inf = float("inf")
    many = [5, 300, -5, 1e10, -1e10, inf, -inf]
    f = tf.constant(many)
    assert both(lambda: tf.saturate_cast(f, tf.uint32)).tolist() == [5, 300, 0, 4294967040, 0, 4294967040, 0]
    assert both(lambda: tf.saturate_cast(f, tf.int32)).tolist() == [
        5, 300, -5, 2147483520, -2**31, 2147483520, -2**31]
    half = tf.constant(many, tf.float16)
    assert both(lambda: tf.saturate_cast(half, tf.int16)).tolist() == [5, 300, -5, 32752, -32768, 32752, -32768]
    assert both(lambda: tf.saturate_cast(tf.cast(f, tf.bfloat16), tf.int16)).tolist() == [
        5, 300, -5, 32640, -32768, 32640, -32768]
    wide = both(lambda: tf.saturate_cast(tf.constant([inf, -inf, float("nan"), 1e300], tf.float64), tf.float32))
    np.testing.assert_array_equal(wide, np.array([1, -1, np.nan, 1]) * np.finfo("f").max)
    assert both(lambda: tf.saturate_cast(tf.constant([inf, -inf]), tf.float64)).tolist() == [
        float(np.finfo("f").max), -float(np.finfo("f").max)]
    z = tf.constant([1e300 - 1e300j, 3 + 4j], tf.complex128)
    largest = float(np.finfo("f").max)
    assert both(lambda: tf.saturate_cast(z, tf.complex64)).tolist() == [largest - largest * 1j, 3 + 4j]
    assert both(lambda: tf.saturate_cast(z, tf.uint8)).tolist() == [255, 3]
    assert both(lambda: tf.saturate_cast([3, -4], tf.complex64)).tolist() == [3, -4]
    with pytest.raises(TypeError, match="minimum value"):
        tf.saturate_cast(f, tf.bool)


@pytest.mark.parametrize("dtype", ["qint8", "quint8", "qint16", "quint16", "qint32"])
def test_quantized_zeros_and_ones(dtype):
    levels = {"8": tf.int8, "6": tf.int16, "2": tf.int32}[dtype[-1]]
    assert both(lambda: tf.bitcast(tf.zeros([2, 1], dtype), levels)).tolist() == [[0], [0]]
    assert both(lambda: tf.bitcast(tf.ones(tf.constant([2]), dtype), levels)).tolist() == [1, 1]


def test_indices_of_other_kinds():
    x = tf.reshape(tf.range(6), [2, 3])
    small = tf.constant(1, tf.int16)
    assert both(lambda: x[small]).tolist() == [3, 4, 5]
    assert both(lambda: x[0, small:]).tolist() == [1, 2]
    assert both(lambda: x[0, small:tf.constant(2, tf.int64)]).tolist() == [1]
    with pytest.raises(TypeError, match="valid indices"):
        x[tf.constant(1, tf.uint8)]
    unknown = tf.compat.v1.Dimension(None)
    assert both(lambda: x[0, unknown:tf.compat.v1.Dimension(2):unknown]).tolist() == [0, 1]


def test_the_axis_of_a_mask_may_be_a_tensor():
    mask = [True, False, True]
    assert both(lambda: tf.boolean_mask([[1, 2, 3]], mask, axis=tf.constant(1))).tolist() == [[1, 3]]
    function = tf.function(lambda axis: tf.boolean_mask([[1, 2, 3]], mask, axis=axis),
                           input_signature=[tf.TensorSpec(None, tf.int32)])
    assert function(1).numpy().tolist() == [[1, 3]]


def test_one_hot_values_take_the_type_asked_for():
    assert both(lambda: tf.one_hot([1], 2, on_value=2, off_value=1, dtype=tf.float16)).tolist() == [[1, 2]]
    on, off = np.asarray(2, np.float16), np.asarray(-2, np.float16)
    assert both(lambda: tf.one_hot([1], 2, on, off, dtype=np.float16)).dtype == np.float16
    with pytest.raises(TypeError, match="does not match"):
        tf.one_hot([1], 2, on_value=tf.constant(2.0), dtype=tf.float16)


def test_shapes_and_padding_as_arrays():
    assert both(lambda: tf.constant([1, 2], shape=np.array([2, 1]))).tolist() == [[1], [2]]
    assert both(lambda: tf.constant(1, shape=np.array([2, 1]))).tolist() == [[1], [1]]
    quantized = np.array([(3,), (4,)], tf.qint8.as_numpy_dtype)
    padded = both(lambda: tf.bitcast(tf.pad(quantized, [[1, 0]], constant_values=quantized[0]), tf.int8))
    assert padded.tolist() == [3, 3, 4]


def test_ranges_of_slices_counted_from_the_end():
    x = tf.constant([[[0.3, 50], [1, 60]]])
    expected = both(lambda: tf.quantization.quantize_and_dequantize_v2(x, [0, 0], [0, 0], range_given=False, axis=2))
    given = both(lambda: tf.quantization.quantize_and_dequantize_v2(x, [0, 0], [0, 0], range_given=False, axis=-1))
    np.testing.assert_array_equal(given, expected)
    np.testing.assert_allclose(expected[..., 0], [[38 / 128, 1]], atol=1e-2)
    assert both(lambda: tf.quantization.quantize([[3.0, 6.0]], [0, 0], [4, 8], tf.quint8, axis=-1)[2]).tolist() == [
        4, 8]
    unknown = tf.function(lambda v: tf.quantization.quantize_and_dequantize_v2(v, 0, 1, axis=-2),
                          input_signature=[tf.TensorSpec(None)])
    with pytest.raises(ValueError, match="known rank"):
        unknown(x)


def test_tables_of_ragged_keys():
    keys = tf.ragged.constant([["a", "b"], ["z"]])
    of_words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    assert tf.lookup.StaticHashTable(of_words, -1)[keys].to_list() == [[0, 1], [-1]]
    found = tf.lookup.StaticVocabularyTable(of_words, 3).lookup(keys).to_list()
    assert found[0] == [0, 1] and found[1][0] in (2, 3, 4)
    changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    changing.insert(["b"], [7])
    assert changing.lookup(keys).to_list() == [[-1, 7], [-1]]
    sparse = changing.lookup(tf.sparse.from_dense([["", "b"]]))
    assert sparse.indices.numpy().tolist() == [[0, 1]] and sparse.values.numpy().tolist() == [7]


def test_queues_made_in_a_function_last():
    made = []

    @tf.function
    def enqueue(x):
        if not made:
            made.append(tf.queue.FIFOQueue(10, tf.int32, shapes=[[]]))
        made[0].enqueue(x)

    enqueue(tf.constant(2))
    enqueue(tf.constant(3))
    assert made[0].dequeue().numpy() == 2 and made[0].size().numpy() == 1


def test_transforms_of_unknown_length():
    x = np.arange(6, dtype="f").reshape(2, 3)
    for n in (2, 3, 5):
        known = tf.signal.dct(x, n=n)
        unknown = tf.function(lambda v, n=n: tf.signal.dct(v, n=n), input_signature=[tf.TensorSpec([None, None])])
        np.testing.assert_allclose(unknown(x), known, atol=1e-5)
    even = np.pad(x, [[0, 0], [0, 2]])
    place = np.arange(5)
    wanted = 2 * even @ np.cos(np.pi * np.outer(2 * place + 1, place) / 10)
    np.testing.assert_allclose(tf.signal.dct(x, n=5), wanted, atol=1e-4)


def test_old_split_of_a_scalar_has_one_row():
    split = tf.compat.v1.strings.split
    assert split("1,2", sep=",", result_type="RaggedTensor").to_list() == [[b"1", b"2"]]
    assert split("a b", sep=" ").dense_shape.numpy().tolist() == [1, 2]


def test_small_things_of_version_two():
    quotient = tf.constant([7], tf.uint32) / tf.constant([2], tf.uint32)
    assert quotient.dtype == tf.float64 and quotient.numpy() == 3.5
    columns = tf.io.decode_csv(["1,2"], np.array([0.0, 1.0]))
    assert [column.numpy().tolist() for column in columns] == [[1], [2]]
    with tf.Graph().as_default():
        assert tf.compat.v1.sparse_placeholder(tf.float32, [None, 47]).shape.as_list() == [None, 47]
        assert tf.compat.v1.sparse_placeholder(tf.float32, [-1, 47]).indices.shape.as_list() == [None, 2]
        given = tf.compat.v1.sparse_placeholder(tf.float32, [5, None])
        assert tf.sparse.reorder(given).shape.as_list() == [5, None]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "bfloat16"])
def test_sorting_reaches_the_limits_of_types(dtype):
    kind = tf.as_dtype(dtype)
    numbers = np.array([kind.max, kind.min, 3, kind.max, 0], kind.as_numpy_dtype)
    assert both(lambda: tf.sort(numbers)).tolist() == sorted(numbers.tolist())
    assert both(lambda: tf.sort(numbers, direction="DESCENDING")).tolist() == sorted(numbers.tolist())[::-1]
    if kind.min < 0:
        assert both(lambda: tf.argsort(numbers)).tolist() == [1, 4, 2, 0, 3]


def test_sign_of_complex_numbers_has_a_gradient():
    z = tf.constant([3 + 4j, 0j])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.math.real(tf.sign(z))
    np.testing.assert_allclose(tf.sign(z), [0.6 + 0.8j, 0], rtol=1e-6)
    # The part across z turns, that along it does not change: d Re(z / |z|) = Im(z)^2 / |z|^3 dx - Re Im / |z|^3 dy
    np.testing.assert_allclose(tape.gradient(y, z)[0], 16 / 125 - 12j / 125, rtol=1e-5)


def test_a_section_within_itself_is_refused():
    section = tf.CriticalSection()
    with pytest.raises(ValueError, match="Attempting to lock a CriticalSection .* in which we are"):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: tf.constant(2)).numpy() == 2


def test_checks_of_sparse_and_ragged_tensors():
    sparse, ragged = tf.sparse.from_dense([[1.0, 0.0, 2.0]]), tf.ragged.constant([[1.0], []])
    for tensor in (sparse, ragged):
        tf.debugging.assert_type(tensor, tf.float32)
        with pytest.raises(TypeError, match="tf.int32; got tf.float32"):
            tf.debugging.assert_type(tensor, tf.int32)
    tf.debugging.assert_shapes([(sparse, ("a", 3)), (tf.zeros([1]), ("a",))])
    for wrong in ((2, 3), ("a", 4), ("a",)):
        with pytest.raises(ValueError, match="must have"):
            tf.debugging.assert_shapes([(sparse, wrong)])


def test_what_version_two_takes_too():
    assert both(lambda: tf.convert_to_tensor(range(2, 5))).tolist() == [2, 3, 4]
    assert both(lambda: tf.add_n(x for x in (1, 2))).tolist() == 3
    assert both(lambda: tf.math.divide_no_nan(1, tf.constant([2, 0], tf.float16))).dtype == np.float16
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0], tf.float32), tf.constant([4.0], tf.bfloat16)], 1.0,
                                         tf.constant(5.0))
    assert clipped[1].dtype == tf.bfloat16 and float(clipped[1][0]) == 0.80078125
    np.testing.assert_allclose(clipped[0], [0.6], rtol=1e-6)
    dense, sparse = np.arange(6.0).reshape(2, 3), tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    product = tf.sparse.sparse_dense_matmul(tf.constant(dense), tf.cast(sparse, tf.float64))
    np.testing.assert_allclose(product, dense @ [[1, 0], [0, 2], [3, 0]])
    turned = tf.sparse.sparse_dense_matmul(tf.constant(dense.T), tf.cast(sparse, tf.float64), adjoint_a=True)
    np.testing.assert_allclose(turned, product)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must > 0"):
        tf.histogram_fixed_width_bins([1.0], [0.0, 2.0], nbins=-1)
    with pytest.raises(TypeError, match=r"only takes keyword args \(possible keys: \['x', 'y', 'name'\]\)"):
        tf.raw_ops.Add(1, 2)
    image = np.arange(12, dtype=np.int16).reshape(2, 2, 3)
    np.testing.assert_allclose(tf.compat.v1.image.per_image_standardization(image),
                               (image - image.mean()) / image.std(), rtol=1e-5)


@pytest.mark.parametrize("shape, repeats, axis", [
    ([0, 4], 0, 1), ([0, 4], 2, 1), ([0, 4], [1, 2, 0, 1], 1), ([1, 2], [2], None), ([3], 0, 0), ([2, 3], [1, 0, 2], 1),
    ([2, 3], [3], 0), ([2, 3], [1, 2], 0), ([2, 0, 2], 3, 2)])
def test_repeated_slices_of_empty_and_unknown_shapes(shape, repeats, axis):
    data = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    wanted = np.repeat(data, repeats, axis)
    unknown = tf.function(lambda x, n: tf.repeat(x, n, axis), input_signature=[tf.TensorSpec(None, tf.int32)] * 2)
    for found in (tf.repeat(data, repeats, axis), unknown(data, repeats)):
        assert found.shape == wanted.shape
        np.testing.assert_array_equal(found, wanted)


def test_no_gradient_goes_through_a_stopped_ragged_tensor():
    values = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        ragged = tf.RaggedTensor.from_row_splits(values, [0, 2, 2])
        y = tf.reduce_sum((tf.stop_gradient(ragged) * ragged).flat_values)
    assert tf.stop_gradient(ragged).to_list() == [[1, 2], []]
    assert tape.gradient(y, values).numpy().tolist() == [1, 2]


def test_bad_indices_into_variables_may_be_ignored():
    v = tf.Variable([1.0, 2.0])
    indices = [[1], [-1], [0], [1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into param shape"):
        tf.gather_nd(v, indices)
    with tf.GradientTape() as tape:
        y = tf.gather_nd(v, indices, bad_indices_policy="IGNORE")
    assert y.numpy().tolist() == [2, 0, 1, 2]
    assert tape.gradient(y, v).numpy().tolist() == [1, 2]


def test_sorts_of_unknown_rank():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def f(x):
        return tf.sort(x, axis=0), tf.argsort(x, axis=0, direction="DESCENDING"), tf.sort(x)

    assert [y.numpy().tolist() for y in f(tf.constant([3.0, 1, 2]))] == [[1, 2, 3], [0, 2, 1], [1, 2, 3]]
    assert [y.numpy().tolist() for y in f(tf.constant([[3.0, 1], [2, 4]]))] == [
        [[2, 1], [3, 4]], [[0, 1], [1, 0]], [[1, 3], [2, 4]]]


def test_sizes_beyond_int32():
    big, none = 2**31, tf.zeros([0])
    assert tf.zeros([big, 0]).shape == tf.ones([big, 0]).shape == tf.fill([big, 0], 1).shape == (big, 0)
    assert tf.reshape(none, [0, 50000**2]).shape == (0, 50000**2)
    assert tf.broadcast_to(tf.zeros([1, 0]), [big, 0]).shape == tf.tile(tf.zeros([1, 0]), [big, 1]).shape == (big, 0)
    assert tf.random.uniform([0, big]).shape == tf.random.normal([0, big]).shape == (0, big)
    x = tf.range(5)
    assert x[:big].shape == 5 and x[2**32 + 1:].shape == 0
    for call in (lambda: tf.reshape(tf.zeros([4]), [2**32 + 4]), lambda: tf.reshape(tf.zeros([4]), [-1, 2**32 + 2]),
                 lambda: tf.reduce_sum(x, [2**32]), lambda: tf.reverse(x, [2**32])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()
    with tf.Graph().as_default():
        assert tf.reshape(tf.zeros([0]), [0, big]).shape == (0, big)
        assert tf.tile(tf.zeros([1, 0]), [big, 1]).shape == (big, 0)
        with pytest.raises(ValueError, match="2500000000"):
            tf.reshape(tf.zeros([4]), [50000**2])
        with pytest.raises(ValueError, match="4294967296"):
            tf.expand_dims(tf.zeros([2]), 2**32)
