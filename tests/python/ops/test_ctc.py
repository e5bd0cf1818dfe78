"""Connectionist temporal classification. Expected values are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

LOGITS = np.array([
    [[1.789, 0.437, 0.096, -1.863], [-0.277, -0.355, -0.083, -0.627]],
    [[-0.044, -0.477, -1.314, 0.885], [0.881, 1.71, 0.05, -0.405]],
    [[-0.545, -1.546, 0.982, -1.101], [-1.185, -0.206, 1.486, 0.237]],
    [[-1.024, -0.713, 0.625, -0.161], [-0.769, -0.23, 0.745, 1.976]]], np.float32)
INDICES, VALUES = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 2, 1, 1]
EXPECTED = {True: ([1.0407634, 5.2726235], [[-0.0693, 0.14537, -0.00464, -0.07143],
                                            [0.24981, -0.08922, 0.10882, -0.26941]]),
            False: ([2.4637969, 3.5331299], [[0.21421, 0.14537, 0.05242, -0.412],
                                             [0.24981, -0.36946, 0.10882, 0.01082]])}


@pytest.mark.parametrize("merge", EXPECTED)
def test_loss(merge):
    with tf.Graph().as_default(), tf.Session() as sess:
        logits = tf.constant(LOGITS)
        labels = tf.SparseTensor(np.array(INDICES, np.int64), tf.constant(VALUES), [2, 2])
        loss = tf.nn.ctc_loss(labels, logits, [4, 4], ctc_merge_repeated=merge)
        gradient = tf.gradients(loss, logits, [[1.0, 2.0]])[0]
        loss, gradient = sess.run([loss, gradient])
        np.testing.assert_allclose(loss, EXPECTED[merge][0], rtol=1e-5)
        np.testing.assert_allclose(gradient[1], np.array(EXPECTED[merge][1]) * [[1], [2]], atol=1e-4)


def test_gradient():
    with tf.Graph().as_default(), tf.Session():
        logits = tf.constant(LOGITS.astype(np.float64))
        labels = tf.SparseTensor(np.array(INDICES, np.int64), tf.constant(VALUES), [2, 2])
        loss = tf.nn.ctc_loss(labels, logits, [4, 3])
        assert tf.test.compute_gradient_error(logits, LOGITS.shape, loss, [2], LOGITS) < 1e-6


@pytest.mark.parametrize("indices, values, length, message", [
    ([[0, 0]], [0], [4, 4], "Labels length is zero in batch 1"),
    ([[0, 0], [2, 0]], [0, 1], [4, 4], "labels batch index must be between 0 and 2"),
    ([[0, 0], [1, 0]], [0, 1], [5, 4], r"sequence_length\(0\) <= 4"),
    ([[0, 0], [1, 0]], [0, -1], [4, 4], "nonnegative"),
    ([[0, 0], [1, 0], [1, 1]], [0, 3, 1], [4, 4], "following a null label"),
    ([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [1, 4], "Not enough time"),
])
def test_bad_labels_are_refused(indices, values, length, message):
    with tf.Graph().as_default(), tf.Session() as sess:
        loss = tf.raw_ops.CTCLoss(inputs=LOGITS, labels_indices=np.array(indices, np.int64), labels_values=values,
                                  sequence_length=length)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(loss)


def test_decoders():
    with tf.Graph().as_default(), tf.Session() as sess:
        (greedy,), score = tf.nn.ctc_greedy_decoder(LOGITS, [4, 3])
        greedy, score = sess.run([greedy, score])
        assert greedy.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
        assert greedy.values.tolist() == [0, 2, 2, 1, 2] and greedy.dense_shape.tolist() == [2, 3]
        np.testing.assert_allclose(score, [[-4.281], [-3.113]], atol=1e-5)
        paths, score = tf.nn.ctc_beam_search_decoder(LOGITS, [4, 3], beam_width=4, top_paths=2, merge_repeated=False)
        (first, second), score = sess.run([paths, score])
        assert first.values.tolist() == [0, 2, 1, 2] and second.values.tolist() == [1, 2, 2, 1, 2]
        assert second.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
        np.testing.assert_allclose(score, [[-1.1131823, -2.6780369], [-1.7817656, -2.1423595]], rtol=1e-5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="more paths than the beam width"):
            sess.run(tf.nn.ctc_beam_search_decoder(LOGITS, [4, 3], beam_width=1, top_paths=2)[1])


def test_ctc_loss_of_dense_labels():
    rng = np.random.RandomState(3)
    logits, labels, lengths = rng.randn(6, 2, 4), np.array([[1, 2, 2], [3, 0, 0]]), [3, 1]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(logits, tf.float32)
        loss = tf.nn.ctc_loss_v2(labels, x, lengths, [6, 5])
        # The op's blank is the last class, here it is the first.
        moved = tf.concat([x[..., 1:], x[..., :1]], axis=-1)
        sparse = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], tf.constant([0, 1, 1, 2]), [2, 3])
        expected = tf.nn.ctc_loss(sparse, moved, [6, 5])
        got, want, dx, dy = sess.run([loss, expected, tf.gradients(loss, x)[0], tf.gradients(expected, x)[0]])
        np.testing.assert_allclose(got, want, rtol=1e-6)
        np.testing.assert_allclose(dx, dy, rtol=1e-6)
        with_sparse = tf.nn.ctc_loss_v2(tf.SparseTensor(sparse.indices, tf.constant([1, 2, 2, 3]), [2, 3]),
                                        tf.transpose(x, [1, 0, 2]), None, [6, 5], logits_time_major=False,
                                        blank_index=-4)
        np.testing.assert_allclose(sess.run(with_sparse), want, rtol=1e-6)
        with pytest.raises(ValueError, match="blank_index must be given"):
            tf.nn.ctc_loss_v2(sparse, x, None, [6, 5])


def test_labels_without_repetitions():
    with tf.Graph().as_default(), tf.Session() as sess:
        repeated = [[1, 3, 3, 3, 0], [1, 4, 4, 4, 0], [4, 2, 2, 9, 4]]
        labels, lengths = sess.run(tf.nn.collapse_repeated(repeated, [4, 5, 5]))
        assert labels.tolist() == [[1, 3, 0, 0], [1, 4, 0, 0], [4, 2, 9, 4]] and lengths.tolist() == [2, 3, 4]
        unique, places = sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3, 0]]))
        assert unique.tolist() == [[3, 4, 0, 0, 0]] and places.tolist() == [[0, 1, 1, 0, 2]]


def test_greedy_decoder_of_another_blank():
    with tf.Graph().as_default(), tf.Session() as sess:
        turned = LOGITS[..., [3, 0, 1, 2]]  # the last class comes first
        (plain,), _ = tf.nn.ctc_greedy_decoder(LOGITS, [4, 3])
        for blank in (0, -4):
            (moved,), _ = tf.nn.ctc_greedy_decoder(turned, [4, 3], blank_index=blank)
            a, b = sess.run([plain, moved])
            assert b.indices.tolist() == a.indices.tolist() and b.values.tolist() == (a.values + 1).tolist()


@pytest.mark.parametrize("labels, lengths, blank, times, losses, slopes", [
    ([[1, 2, 1, 0], [1, 2, 0, 2]], [4, 4], 0, [6, 6], [9.316067, 6.5434923], [6.39771, 5.1308804]),  # blanks as labels
    ([[1, 0, 0, 0], [0, 0, 0, 2]], [4, 4], 0, [6, 6], [18.734974, 11.872484], [8.648876, 7.913703]),
    ([[1, 2, 1, 4], [4, 2, 3, 2]], [4, 4], -1, [6, 6], [4.857133, 6.7061424], [5.3562946, 5.471036]),
    ([[1, 2, 1, 2, 3, 1, 2], [1, 2, 3, 2, 1, 1, 1]], [7, 7], 0, [6, 6], [712.2836, 710.3635], [5.13546, 3.9036407]),
    ([[1, 1, 1, 1], [1, 1, 1, 1]], [4, 4], 0, [6, 6], [714.0439, 713.5145], [7.5334616, 7.06489]),  # too few logits
    ([[1, 2, 1, 2], [1, 2, 3, 2]], [0, 4], 0, [2, 5], [4.295665, 3.9280472], [3.4279175, 4.867825]),  # no labels
    ([[1, 2, 1, 2], [1, 2, 3, 7]], [3, 4], 0, [6, 6], [6.69082, 1.691888], [6.5694094, 5.3371973]),  # no such class
    ([[1, 2, 1, 2], [1, 2, 3, -1]], [3, 4], 0, [6, 6], [6.69082, 1.691888], [6.5694094, 5.3371973]),
    ([[1, 2, 1, 2], [1, 2, 3, 1]], [3, 5], 0, [6, 6], [6.69082, 711.2908], [6.5694094, 4.3296266]),
    ([[1, 2, 1, 2], [1, 2, 3, 1]], [3, 3], 0, [6, 0], [6.69082, 706.8936], [6.5694094, 0]),
    ([[1, 2, 1, 2], [1, 2, 3, 1]], [3, 3], 0, [7, 6], [6.69082, 6.1790447], [6.5694094, 5.375371])])
@pytest.mark.parametrize("how", ["eager", "function", "graph"])
def test_dense_labels_that_the_op_refuses(how, labels, lengths, blank, times, losses, slopes):
    """`slopes`: the sums of the gradient's absolute values."""
    numbers = np.random.RandomState(0).randn(2, 6, 5).astype("float32")

    def both(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.nn.ctc_loss_v2(labels, logits, lengths, times, logits_time_major=False, blank_index=blank)
        return loss, tf.reduce_sum(tf.abs(tape.gradient(loss, logits)), axis=[1, 2])

    if how == "graph":
        with tf.Graph().as_default(), tf.Session() as sess:
            logits = tf.constant(numbers)
            loss = tf.nn.ctc_loss_v2(labels, logits, lengths, times, logits_time_major=False, blank_index=blank)
            found = sess.run([loss, tf.reduce_sum(tf.abs(tf.gradients(loss, logits)[0]), axis=[1, 2])])
    else:
        with context.eager_mode():
            found = (tf.function(both) if how == "function" else both)(tf.constant(numbers))
    np.testing.assert_allclose(found[0], losses, rtol=1e-5)
    np.testing.assert_allclose(found[1], slopes, rtol=1e-5)
