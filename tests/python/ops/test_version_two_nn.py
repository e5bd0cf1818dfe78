"""Networks' functions as programs of version 2 call them. The values are NumPy's or TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.ops.nn import nn_conv

pytestmark = pytest.mark.usefixtures("version_two")


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="f").reshape(shape) % 7 - 3


@pytest.mark.parametrize("convolve, n", [
    (lambda x, f: tf.nn.conv1d(x, f, 1, "SAME"), 1), (lambda x, f: tf.nn.conv2d(x, f, 1, "VALID"), 2),
    (lambda x, f: tf.nn.conv2d(x, f, 1, [[0, 0], [1, 0], [0, 2], [0, 0]]), 2),
    (lambda x, f: tf.nn.conv3d(x, f, [1] * 5, "VALID"), 3), (lambda x, f: tf.nn.convolution(x, f, padding="SAME"), 2),
    (lambda x, f: tf.nn.convolution(x, f, dilations=2), 2),
    (lambda x, f: nn_conv.Convolution(tf.TensorShape([2, 3, 5, 5, 2]), tf.TensorShape(f.shape), "VALID")(x, f), 2)])
def test_convolutions_of_several_batch_dimensions(convolve, n):
    x, f = numbers(2, 3, *[5] * n, 2), numbers(*[2] * n, 2, 3)
    flat = tf.stack([convolve(part[None], f)[0] for part in x])
    both = convolve(x, f)
    np.testing.assert_array_equal(both, flat)
    unknown = tf.function(convolve, input_signature=[tf.TensorSpec([None, 3] + [5] * n + [2]), tf.TensorSpec(f.shape)])
    np.testing.assert_array_equal(unknown(x, f), both)
    shape = unknown.get_concrete_function().output_shapes
    assert shape.as_list() == [None, *both.shape[1:]]


def test_explicit_padding_of_pools():
    x = numbers(1, 3, 3, 2)
    pads = [[0, 0], [0, 1], [1, 0], [0, 0]]
    padded = np.pad(x, pads, constant_values=-np.inf)
    wanted = tf.nn.max_pool2d(padded, 2, 1, "VALID")
    for pool in (tf.nn.max_pool, tf.nn.max_pool2d, tf.compat.v1.nn.max_pool):
        np.testing.assert_array_equal(pool(x, 2, 1, pads), wanted)
    row = tf.nn.max_pool1d(x[0], 2, 1, [[0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(row, np.maximum(x[0], np.concatenate([x[0, :, 1:], x[0, :, 2:]], 1)))
    with pytest.raises(ValueError, match="rank 5"):
        tf.nn.max_pool(numbers(1, 2, 2, 2, 1), 2, 1, [[0, 0]] * 5)
    with pytest.raises(ValueError, match="of size 4"):
        tf.nn.max_pool2d(x, 2, 1, [[0, 0]] * 3)


def test_rows_for_ragged_ids():
    table = numbers(5, 2)
    ids, weights = tf.ragged.constant([[1, 3], [], [4]]), tf.ragged.constant([[1.0, 3.0], [], [2.0]])
    found = tf.nn.embedding_lookup(table, ids)
    assert found.to_list() == [table[[1, 3]].tolist(), [], [table[4].tolist()]]
    total = table[1] + 3 * table[3]
    for combiner, divisor in (("sum", 1), ("mean", 4), ("sqrtn", 10 ** 0.5)):
        joined = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner)
        np.testing.assert_allclose(joined[0], total / divisor, rtol=1e-6)
        np.testing.assert_array_equal(joined, tf.nn.embedding_lookup_sparse(
            table, ids.to_sparse(), weights.to_sparse(), combiner))
    safe = tf.nn.safe_embedding_lookup_sparse(table, tf.ragged.constant([[1, -1], [], [4]]))
    np.testing.assert_array_equal(safe, [table[1], [0, 0], table[4]])
    with pytest.raises(TypeError, match="same type"):
        tf.nn.embedding_lookup_sparse(table, ids, weights.to_sparse())
    with pytest.raises(ValueError, match="indices"):
        tf.nn.embedding_lookup(table, weights)


@pytest.mark.parametrize("kind", [tf.float16, tf.bfloat16])
def test_joined_rows_keep_short_types(kind):
    table = tf.cast(numbers(5, 2), kind)
    ids = tf.sparse.from_dense([[1, 2], [4, 0]])
    for weights in (None, tf.sparse.from_dense([[1.0, 2.0], [1.0, 0.0]])):
        joined = tf.nn.embedding_lookup_sparse(table, ids, weights, "sum")
        assert joined.dtype == kind
    np.testing.assert_array_equal(tf.cast(joined, tf.float32), [numbers(5, 2)[1] + 2 * numbers(5, 2)[2],
                                                                numbers(5, 2)[4]])


def test_rows_of_no_weight_are_zero():
    ids, weights = tf.sparse.from_dense([[1, 2], [4, 3]]), tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1]],
                                                                           [0.0, 0.0, 1.0, 1.0], [2, 2])
    assert tf.nn.embedding_lookup_sparse(numbers(5, 2), ids, weights, "mean").numpy()[0].tolist() == [0, 0]


@pytest.mark.parametrize("kind, tolerance", [(tf.float32, 1e-6), (tf.float64, 1e-8), (tf.float16, 2e-3),
                                             (tf.bfloat16, 2e-2)])
def test_ctc_of_all_types(kind, tolerance):
    logits = tf.cast(tf.reshape(tf.range(12.0), [4, 1, 3]), kind)
    for labels in (tf.sparse.from_dense([[1, 2]]), tf.constant([[1, 2]])):
        loss = tf.nn.ctc_loss(labels, logits, tf.constant([2], tf.int64), tf.constant([4], tf.int64), blank_index=0)
        assert loss.dtype == kind
        np.testing.assert_allclose(tf.cast(loss, tf.float64), [1.85639943], rtol=tolerance)


def test_separable_convolution_with_explicit_padding():
    x, depthwise, pointwise = numbers(1, 4, 4, 2), numbers(2, 2, 2, 1), numbers(1, 1, 2, 3)
    pads = [[0, 0], [1, 0], [0, 2], [0, 0]]
    wanted = tf.nn.separable_conv2d(np.pad(x, pads), depthwise, pointwise, [1] * 4, "VALID")
    np.testing.assert_array_equal(tf.nn.separable_conv2d(x, depthwise, pointwise, [1] * 4, pads), wanted)


def test_noise_as_wide_as_the_input_where_its_shape_says_nothing():
    x = tf.ones([40, 30])
    dropped = tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2], noise_shape=[None, 1]).numpy()
    assert set(dropped.sum(1)) == {0, 60}
    sampler = tf.random.Generator.from_seed(1).uniform
    dropped = tf.nn.experimental.general_dropout(x, 0.5, sampler, noise_shape=[1, None]).numpy()
    assert set(dropped.sum(0)) == {0, 80}


@pytest.mark.usefixtures("version_two")
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_dilated_convolutions_of_groups_of_channels(rank):
    random = np.random.RandomState(rank)
    images = random.randn(2, *[6] * rank, 4).astype("float32")
    filters = random.randn(*[3] * rank, 2, 6).astype("float32")
    made = tf.nn.convolution(images, filters, padding="SAME", dilations=2)
    for group in range(2):
        alone = tf.nn.convolution(images[..., 2 * group:2 * group + 2], filters[..., 3 * group:3 * group + 3],
                                  padding="SAME", dilations=2)
        np.testing.assert_allclose(made[..., 3 * group:3 * group + 3], alone, atol=1e-5)
    with pytest.raises(ValueError, match="not divisible"):
        tf.nn.convolution(images, random.randn(*[3] * rank, 3, 6).astype("float32"), dilations=2)
