"""Decoding of sequences: beam search as TensorFlow 1.15.5 does it, attention that learns."""
import numpy as np
import pytest

import penstock.v1 as tf

seq2seq = tf.contrib.seq2seq


def _waves(shape, dtype=None, partition_info=None):
    n = int(np.prod(shape))
    return tf.constant((np.sin(np.arange(n) * 1.7) * 0.9).reshape(shape), dtype or tf.float32)


# Ids of the beams, scores of the last step, and a sum over the alignments, from TensorFlow 1.15.5.
EXPECTED = {
    0.0: ([[[2, 6, 6], [2, 5, 5], [2, 6, 6], [2, 5, 5], [2, 3, 3], [2, 6, 3]],
           [[5, 5, 5], [6, 6, 6], [5, 5, 5], [1, 1, 1], [1, 1, 5], [1, 5, 1]]],
          [[-1.4420, -6.8052, -6.9311], [-6.9164, -6.9665, -7.0009]]),
    0.3: ([[[6, 6, 6], [1, 1, 1], [5, 5, 5], [1, 0, 4], [6, 4, 1], [6, 4, 5]],
           [[5, 5, 5], [6, 6, 6], [5, 5, 5], [1, 1, 1], [1, 1, 5], [1, 5, 1]]],
          [[-6.7258, -6.7822, -6.8107], [-6.9164, -6.9665, -7.0009]]),
}


@pytest.mark.parametrize("coverage", EXPECTED)
def test_beam_search(coverage):
    random = np.random.RandomState(0)
    batch, width, steps, units, words = 2, 3, 5, 6, 7
    with tf.Graph().as_default(), tf.variable_scope("d", initializer=_waves), tf.Session() as session:
        memory = tf.constant(random.randn(batch, steps, units).astype("f"))
        embedding = tf.constant(random.randn(words, 4).astype("f"))
        first = tf.constant(random.randn(batch, units).astype("f"))
        attention = seq2seq.LuongAttention(units, seq2seq.tile_batch(memory, width),
                                           seq2seq.tile_batch(tf.constant([3, 5]), width))
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(units), attention, attention_layer_size=units,
                                        alignment_history=True)
        state = cell.zero_state(batch * width, tf.float32).clone(cell_state=seq2seq.tile_batch(first, width))
        decoder = seq2seq.BeamSearchDecoder(
            cell, embedding, tf.fill([batch], 1), 2, state, width, tf.layers.Dense(words, kernel_initializer=_waves),
            length_penalty_weight=0.6, coverage_penalty_weight=coverage)
        outputs, last, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
        session.run(tf.global_variables_initializer())
        ids, scores = session.run([outputs.predicted_ids, outputs.beam_search_decoder_output.scores])
    assert ids.tolist() == EXPECTED[coverage][0]
    np.testing.assert_allclose(scores[:, -1], EXPECTED[coverage][1], atol=2e-4)


def test_gather_tree():
    ids = [[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]
    parents = [[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]]
    with tf.Graph().as_default(), tf.Session() as session:
        tree = seq2seq.gather_tree(tf.constant(ids), tf.constant(parents), tf.constant([3]), 10)
        assert session.run(tree).tolist() == [[[2, 2, 2]], [[6, 5, 6]], [[7, 8, 9]]]


def test_attention_learns_to_reverse():
    """A small encoder and decoder with attention learn to say sequences backwards."""
    batch, steps, symbols = 32, 5, 6
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        source = tf.placeholder(tf.int32, [batch, steps])
        lengths = tf.fill([batch], steps)
        embedding = tf.get_variable("embedding", [symbols + 1, 16])
        memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(32), tf.nn.embedding_lookup(embedding, source),
                                          lengths, dtype=tf.float32)
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(32), seq2seq.BahdanauAttention(32, memory, lengths),
                                        attention_layer_size=32)
        target = tf.reverse(source, [1])
        shifted = tf.concat([tf.fill([batch, 1], symbols), target[:, :-1]], 1)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, shifted), lengths)
        first = cell.zero_state(batch, tf.float32).clone(cell_state=state)
        outputs, _, _ = seq2seq.dynamic_decode(
            seq2seq.BasicDecoder(cell, helper, first, tf.layers.Dense(symbols)))
        loss = seq2seq.sequence_loss(outputs.rnn_output, target, tf.ones([batch, steps]))
        train = tf.train.AdamOptimizer(0.02).minimize(loss)
        session.run(tf.global_variables_initializer())
        random = np.random.RandomState(0)
        losses = []
        for _ in range(120):
            sequences = random.randint(0, symbols, (batch, steps))
            losses.append(session.run([loss, train], {source: sequences})[0])
    assert losses[0] > 1.5 and np.mean(losses[-10:]) < 0.4 * losses[0]
