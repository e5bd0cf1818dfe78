"""tf.nn against NumPy, and the checks it makes when the graph is built."""
import numpy as np
import pytest

import penstock.v1 as tf


def run(build):
    """The values of what `build` makes in a new graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


R = np.random.RandomState(1)
IMAGES = R.randn(2, 5, 6, 3).astype(np.float32)
FILTERS = R.randn(3, 2, 3, 4).astype(np.float32)
LOGITS = R.randn(4, 5).astype(np.float32)
CLASSES = np.array([0, 4, 2, 2])


def convolve(x, f, stride=1, rate=1):
    """A VALID convolution, by its definition."""
    height, width = (f.shape[0] - 1) * rate + 1, (f.shape[1] - 1) * rate + 1
    rows = [[np.tensordot(x[:, i:i + height:rate, j:j + width:rate], f, [[1, 2, 3], [0, 1, 2]])
             for j in range(0, x.shape[2] - width + 1, stride)] for i in range(0, x.shape[1] - height + 1, stride)]
    return np.array(rows).transpose(2, 0, 1, 3)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=2e-4, atol=1e-5)


def test_convolutions():
    got = run(lambda: [
        tf.nn.conv2d(IMAGES, FILTERS, 1, "VALID"), tf.nn.conv2d(IMAGES, FILTERS, [1, 2, 2, 1], "VALID"),
        tf.nn.conv2d(IMAGES, FILTERS, 1, [[0, 0], [1, 1], [0, 1], [0, 0]]),
        tf.nn.convolution(tf.constant(IMAGES), tf.constant(FILTERS), "VALID", dilation_rate=[2, 2]),
        tf.nn.convolution(tf.constant(IMAGES), tf.constant(FILTERS), "SAME"),
        tf.nn.conv1d(IMAGES[:, 0], FILTERS[0], 1, "VALID")])
    padded = np.pad(IMAGES, [[0, 0], [1, 1], [0, 1], [0, 0]])
    close(got[0], convolve(IMAGES, FILTERS))
    close(got[1], convolve(IMAGES, FILTERS, 2))
    close(got[2], convolve(padded, FILTERS))
    close(got[3], convolve(IMAGES, FILTERS, rate=2))
    close(got[4], convolve(padded, FILTERS))
    close(got[5], convolve(IMAGES[:, :1], FILTERS[:1])[:, 0])


def test_transposed_convolution_is_the_gradient():
    y = R.randn(2, 3, 5, 4).astype(np.float32)
    got = run(lambda: tf.nn.conv2d_transpose(y, FILTERS, IMAGES.shape, 1, "VALID"))
    # <conv(x), y> = <x, transposed(y)>
    close((convolve(IMAGES, FILTERS) * y).sum(), (IMAGES * got).sum())


def test_depthwise_and_separable():
    depthwise = R.randn(3, 2, 3, 2).astype(np.float32)
    pointwise = R.randn(1, 1, 6, 4).astype(np.float32)
    each, both = run(lambda: [tf.nn.depthwise_conv2d(IMAGES, depthwise, [1, 1, 1, 1], "VALID"),
                              tf.nn.separable_conv2d(IMAGES, depthwise, pointwise, [1, 1, 1, 1], "VALID")])
    wanted = np.concatenate([convolve(IMAGES[..., c:c + 1], depthwise[:, :, c:c + 1]) for c in range(3)], -1)
    close(each, wanted)
    close(both, wanted @ pointwise[0, 0])


def test_pooling():
    windows = IMAGES[:, :4].reshape(2, 2, 2, 3, 2, 3)
    got = run(lambda: [tf.nn.max_pool(IMAGES[:, :4], 2, 2, "VALID"), tf.nn.avg_pool(IMAGES[:, :4], 2, 2, "SAME"),
                       tf.nn.pool(tf.constant(IMAGES[:, 0]), [2], "MAX", "VALID"),
                       tf.nn.max_pool_v2(IMAGES[:, :4], 2, 2, "VALID")])
    close(got[0], windows.max((2, 4)))
    close(got[1], windows.mean((2, 4)))
    close(got[2], np.maximum(IMAGES[:, 0, :-1], IMAGES[:, 0, 1:]))
    close(got[3], got[0])


def test_softmax_and_losses():
    one_hot = np.eye(5, dtype=np.float32)[CLASSES]
    p = softmax(LOGITS)
    wanted = -np.log(p[np.arange(4), CLASSES])
    got = run(lambda: [
        tf.nn.softmax(LOGITS), tf.nn.softmax(tf.constant(LOGITS), axis=0), tf.nn.log_softmax(LOGITS),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=one_hot, logits=LOGITS),
        tf.nn.softmax_cross_entropy_with_logits(labels=one_hot, logits=LOGITS),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=one_hot.T, logits=LOGITS.T, axis=0),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=CLASSES, logits=LOGITS),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=CLASSES.reshape(2, 2), logits=LOGITS.reshape(2, 2, 5))])
    close(got[0], p)
    close(got[1], softmax(LOGITS, 0))
    close(got[2], np.log(p))
    for value in got[3:7]:
        close(value, wanted)
    close(got[7], wanted.reshape(2, 2))


def test_sigmoid_losses():
    z = R.rand(4, 5).astype(np.float32)
    s = 1 / (1 + np.exp(-LOGITS.astype(np.float64)))
    got = run(lambda: [
        tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=LOGITS),
        tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=LOGITS, pos_weight=3.0),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[1e3, -1e3])])
    close(got[0], -z * np.log(s) - (1 - z) * np.log(1 - s))
    close(got[1], -3 * z * np.log(s) - (1 - z) * np.log(1 - s))
    close(got[2], [0, 0])


def test_moments_and_batch_normalization():
    def build():
        x = tf.constant(IMAGES)
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        counts = tf.nn.sufficient_statistics(x, [0, 1, 2], shift=0.5)
        return [mean, variance, *tf.nn.normalize_moments(*counts), *tf.nn.weighted_moments(x, [0, 1, 2], 2.0),
                tf.nn.batch_normalization(x, mean, variance, 2.0, 3.0, 1e-3)]

    got = run(build)
    mean, variance = IMAGES.mean((0, 1, 2)), IMAGES.var((0, 1, 2))
    for i in (0, 2, 4):
        close(got[i], mean)
        close(got[i + 1], variance)
    close(got[6], (IMAGES - mean) / np.sqrt(variance + 1e-3) * 3 + 2)


def test_activations_and_the_rest():
    got = run(lambda: [tf.nn.leaky_relu(LOGITS), tf.nn.crelu(tf.constant(LOGITS)), tf.nn.relu6(LOGITS * 9),
                       tf.nn.l2_normalize(LOGITS, 1), tf.nn.zero_fraction([0.0, 1.0, 0.0, 0.0]),
                       tf.nn.top_k(LOGITS, 2)[1], tf.nn.in_top_k(LOGITS, CLASSES.astype(np.int32), 5),
                       tf.nn.xw_plus_b(LOGITS, np.ones([5, 2], np.float32), [1.0, 2.0])])
    close(got[0], np.where(LOGITS > 0, LOGITS, 0.2 * LOGITS))
    close(got[1], np.maximum(np.concatenate([LOGITS, -LOGITS], 1), 0))
    close(got[2], (LOGITS * 9).clip(0, 6))
    close(got[3], LOGITS / np.linalg.norm(LOGITS, axis=1, keepdims=True))
    assert got[4] == 0.75
    np.testing.assert_array_equal(got[5], np.argsort(-LOGITS, 1)[:, :2])
    assert got[6].all()
    close(got[7], LOGITS.sum(1, keepdims=True) + [1, 2])


def test_dropout():
    x = np.ones([100, 100], np.float32)
    dropped, rows, same = run(lambda: [tf.nn.dropout(x, rate=0.25, seed=1),
                                       tf.nn.dropout(x, rate=0.5, noise_shape=[100, 1], seed=1),
                                       tf.nn.dropout(x, keep_prob=1.0)])
    np.testing.assert_allclose(np.unique(dropped), [0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped > 0).mean() - 0.75) < 0.02
    assert (rows == rows[:, :1]).all()
    assert (same == 1).all()


def test_embeddings():
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    ids = np.array([[3, 9], [0, 3]])

    def build():
        sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 5], tf.int64), [3, 2])
        weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 3.0, 2.0], [3, 2])
        return [tf.nn.embedding_lookup(table, ids), tf.nn.embedding_lookup([table[::2], table[1::2]], ids),
                tf.nn.embedding_lookup([table[:5], table[5:]], ids, partition_strategy="div"),
                tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="sum"),
                tf.nn.embedding_lookup_sparse(table, sparse, weights, combiner="mean"),
                tf.nn.safe_embedding_lookup_sparse(tf.constant(table), sparse, combiner="sum")]

    got = run(build)
    for value in got[:3]:
        np.testing.assert_array_equal(value, table[ids])
    np.testing.assert_array_equal(got[3], [table[1] + table[3], [0, 0], table[5]])
    np.testing.assert_allclose(got[4][[0, 2]], [(table[1] + 3 * table[3]) / 4, table[5]])
    np.testing.assert_array_equal(got[5], [table[1] + table[3], [0, 0], table[5]])


@pytest.mark.parametrize("build, error, message", [
    (lambda x: tf.nn.conv2d(x, FILTERS, [1, 1, 1], "SAME"), ValueError,
     "strides should be of length 1, 2 or 4 but was 3"),
    (lambda x: tf.nn.conv2d(x, FILTERS, 1, "EXPLICIT"), ValueError, "not a valid value for the padding"),
    (lambda x: tf.nn.conv2d(x, FILTERS, 1, [[0, 0]]), ValueError, "must be of size 4"),
    (lambda x: tf.nn.convolution(x, tf.constant(FILTERS), "SAME", strides=2, dilation_rate=2), ValueError,
     "strides > 1 not supported in conjunction with dilation_rate > 1"),
    (lambda x: tf.nn.conv1d(x, FILTERS, 1, "SAME", data_format="X"), ValueError, "data_format must be"),
    (lambda x: tf.nn.max_pool(x, 0, 1, "SAME"), ValueError, "ksize cannot be zero"),
    (lambda x: tf.nn.pool(x, [2, 2], "SUM", "SAME"), ValueError, "2-D SUM pooling is not supported"),
    (lambda x: tf.nn.bias_add(x, [1.0], data_format="X"), ValueError, "data_format must be of the form"),
    (lambda x: tf.nn.dropout(x, rate=1.5), ValueError, r"range \[0, 1\)"),
    (lambda x: tf.nn.dropout(x), ValueError, "You must provide a rate"),
    (lambda x: tf.nn.dropout(tf.constant([1]), 0.5), ValueError, "floating point"),
    (lambda x: tf.nn.softmax_cross_entropy_with_logits(x, x), ValueError, "Only call .* with named arguments"),
    (lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=x), ValueError, "Both labels and logits"),
    (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[1.0, 2.0]), ValueError,
     "logits and labels must have the same shape"),
    (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0]], logits=[[1.0]]), ValueError,
     "Rank mismatch"),
    (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[1.0], [2.0]]), ValueError,
     "Shape mismatch"),
    (lambda x: tf.nn.softmax(x, axis=7), tf.errors.InvalidArgumentError, "must be in the range"),
    (lambda x: tf.nn.embedding_lookup([], [1]), ValueError, "Need at least one param"),
    (lambda x: tf.nn.embedding_lookup([x, x], [1], partition_strategy="x"), ValueError, "Unrecognized partition"),
    (lambda x: tf.nn.embedding_lookup_sparse(x, x, None, combiner="sum"), TypeError, "sp_ids must be SparseTensor"),
    (lambda x: tf.nn.fused_batch_norm(x, [1.0] * 3, [1.0] * 3, [1.0] * 3), ValueError, "must be None if is_training"),
])
def test_refused_when_built(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build(tf.constant(IMAGES))
