"""Connectionist temporal classification. Expected values are TensorFlow 2.21's."""
import numpy as np
import pytest

import penstock.v1 as tf

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
