"""tf.contrib.legacy_seq2seq: names and first values are those of TensorFlow 1.15 for the same seed."""
import numpy as np
import pytest

import penstock.v1 as tf

legacy = tf.contrib.legacy_seq2seq


def symbols(*steps):
    return [tf.constant(step) for step in steps]


ENCODER, DECODER = [[1, 2]] * 3, [[0, 3]] * 2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def values(tensors):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(tensors)


def lstm():
    return tf.nn.rnn_cell.BasicLSTMCell(4)


@pytest.mark.parametrize("build, expected, last", [
    (lambda: legacy.embedding_rnn_seq2seq(symbols(*ENCODER), symbols(*DECODER), lstm(), 5, 6, 3),
     [0.22682, -0.11483, -0.22801],
     "embedding_rnn_seq2seq/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias"),
    (lambda: legacy.embedding_tied_rnn_seq2seq(symbols(*ENCODER), symbols(*DECODER), lstm(), 5, 3, feed_previous=True),
     [0.00109, -0.01497, -0.08397],
     "embedding_tied_rnn_seq2seq/combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/bias"),
    (lambda: legacy.embedding_attention_seq2seq(symbols(*ENCODER), symbols(*DECODER), lstm(), 5, 6, 3, num_heads=2),
     [0.50887, -0.02036, -0.24006],
     "embedding_attention_seq2seq/embedding_attention_decoder/attention_decoder/AttnOutputProjection/bias"),
    (lambda: legacy.basic_rnn_seq2seq([tf.ones([2, 3])] * 2, [tf.ones([2, 3])], lstm()),
     [-0.17889, 0.12354, -0.32247], "basic_rnn_seq2seq/rnn_decoder/basic_lstm_cell/bias"),
], ids=["embedding", "tied", "attention", "basic"])
def test_recorded(build, expected, last):
    outputs, _ = build()
    assert tf.trainable_variables()[-1].op.name == last
    np.testing.assert_allclose(values(outputs[-1])[0, :3], expected, atol=2e-5)


@pytest.mark.parametrize("feed_previous", [True, False])
def test_feeding_back_is_decided_before_or_as_the_graph_runs(feed_previous):
    outputs, state = legacy.embedding_rnn_seq2seq(symbols(*ENCODER), symbols(*DECODER), lstm(), 5, 6, 3,
                                                  feed_previous=tf.constant(feed_previous))
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        now, now_state = legacy.embedding_rnn_seq2seq(symbols(*ENCODER), symbols(*DECODER), lstm(), 5, 6, 3,
                                                      feed_previous=feed_previous)
    assert isinstance(state, tf.nn.rnn_cell.LSTMStateTuple)
    late, early = values([(outputs, state), (now, now_state)])
    np.testing.assert_allclose(np.concatenate(late[0]), np.concatenate(early[0]), rtol=1e-6)
    np.testing.assert_allclose(late[1].h, early[1].h, rtol=1e-6)


def test_buckets_share_weights_and_losses_are_cross_entropies():
    targets, weights = symbols(*[[1, 2]] * 3), [tf.constant([1., .5])] * 3
    outputs, losses = legacy.model_with_buckets(
        symbols(*ENCODER), symbols(*[[0, 3]] * 3), targets, weights, [(2, 2), (3, 3)],
        lambda x, y: legacy.embedding_rnn_seq2seq(x, y, lstm(), 5, 6, 3))
    assert len(tf.trainable_variables()) == 8
    logits, losses = values([outputs, losses])
    for bucket, loss in zip(logits, losses):
        entropies = [np.log(np.exp(step).sum(1)) - step[[0, 1], [1, 2]] for step in bucket]
        assert loss == pytest.approx(np.mean(np.sum(entropies, 0) / len(bucket)), rel=1e-5)
    with pytest.raises(ValueError, match="Length of targets"):
        legacy.model_with_buckets(symbols(*ENCODER), [], targets[:1], weights, [(2, 2)], None)


def test_one_encoder_and_decoders_by_name():
    outputs, states = legacy.one2many_rnn_seq2seq(
        symbols(*ENCODER), {"a": symbols(*DECODER), "b": symbols(*DECODER)}, lstm(), {"a": lstm(), "b": lstm()}, 5,
        {"a": 6, "b": 7}, 3)
    assert outputs["b"][0].shape == [2, 7] and states["a"].c.shape == [2, 4]
    with pytest.raises(TypeError, match="not an RNNCell"):
        legacy.one2many_rnn_seq2seq([], {}, "cell", {}, 5, {}, 3)
