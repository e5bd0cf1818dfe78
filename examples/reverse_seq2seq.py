"""An encoder and a decoder with attention learn to say a sequence backwards.

    python -m penstock examples/reverse_seq2seq.py --steps 300

Training feeds the decoder the right answer (TrainingHelper); to test, it hears only itself (GreedyEmbeddingHelper).
It is a program of TensorFlow 1, with tf.contrib.seq2seq.
"""
import argparse

import numpy as np
import tensorflow as tf

SYMBOLS, LENGTH, BATCH, UNITS = 8, 6, 64, 48
START, END = SYMBOLS, SYMBOLS + 1


def build():
    """(sequences, loss, training, what the network answers)."""
    seq2seq = tf.contrib.seq2seq
    source = tf.placeholder(tf.int32, [BATCH, LENGTH], name="source")
    lengths = tf.fill([BATCH], LENGTH)
    embedding = tf.get_variable("embedding", [SYMBOLS + 2, 16])
    memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(UNITS), tf.nn.embedding_lookup(embedding, source), lengths,
                                      dtype=tf.float32)
    attention = seq2seq.BahdanauAttention(UNITS, memory, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), attention, attention_layer_size=UNITS)
    first = cell.zero_state(BATCH, tf.float32).clone(cell_state=state)
    classes = tf.layers.Dense(SYMBOLS + 2, name="classes")

    target = tf.concat([tf.reverse(source, [1]), tf.fill([BATCH, 1], END)], 1)
    heard = tf.concat([tf.fill([BATCH, 1], START), target[:, :-1]], 1)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, heard), lengths + 1)
    outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first, classes), scope="decoder")
    loss = seq2seq.sequence_loss(outputs.rnn_output, target, tf.ones([BATCH, LENGTH + 1]))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        greedy = seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([BATCH], START), END)
        answers, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, greedy, first, classes),
                                               maximum_iterations=LENGTH + 1, scope="decoder")
    return source, loss, train, answers.sample_id


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    tf.set_random_seed(1)
    source, loss, train, answers = build()
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(steps + 1):
            batch = random.randint(0, SYMBOLS, (BATCH, LENGTH))
            now, _ = session.run([loss, train], {source: batch})
            if step % 50 == 0:
                print("step %4d  loss %.3f" % (step, now))
        batch = random.randint(0, SYMBOLS, (BATCH, LENGTH))
        said = session.run(answers, {source: batch})[:, :LENGTH]
        print("%s backwards: %s" % (batch[0], said[0]))
        print("right: %.0f %%" % (100 * np.mean(said == batch[:, ::-1][:, :said.shape[1]])))


if __name__ == "__main__":
    main()
