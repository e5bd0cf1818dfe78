"""Trains an LSTM to guess the next letter of a text, and lets it write.

    python -m penstock examples/char_lstm.py --steps 300

The text is examples/word2vec.txt. The network is one loop over the letters (tf.nn.dynamic_rnn); to write, a second
loop (tf.while_loop) feeds each letter that was chosen back in. It is a program of TensorFlow 1.
"""
import argparse
import os

import numpy as np
import tensorflow.compat.v1 as tf

UNITS, BATCH, LENGTH = 96, 16, 32


def read():
    """(the text as numbers, the letters)."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "word2vec.txt")
    with open(path, encoding="utf-8") as f:
        text = " ".join(f.read().split())
    letters = sorted(set(text))
    return np.array([letters.index(c) for c in text]), letters


def build(classes):
    """(letters, next letters, loss, training, a text that the network writes)."""
    x = tf.placeholder(tf.int32, [None, LENGTH], name="x")
    y = tf.placeholder(tf.int32, [None, LENGTH], name="y")
    cell = tf.nn.rnn_cell.LSTMCell(UNITS)
    output_layer = tf.layers.Dense(classes, name="letters")
    with tf.variable_scope("net") as scope:
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.one_hot(x, classes), dtype=tf.float32, scope=scope)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=output_layer(outputs)))
        optimizer = tf.train.AdamOptimizer(0.01)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        train = optimizer.apply_gradients(zip(gradients, variables))

        scope.reuse_variables()

        def write(i, letter, state, written):
            output, state = cell(tf.one_hot(letter, classes), state)
            letter = tf.argmax(output_layer(output), 1, output_type=tf.int32)
            return i + 1, letter, state, written.write(i, letter[0])

        first = (0, tf.zeros([1], tf.int32), cell.zero_state(1, tf.float32),
                 tf.TensorArray(tf.int32, size=60, element_shape=[]))
        written = tf.while_loop(lambda i, *_: i < 60, write, first)[3].stack()
    return x, y, loss, train, written


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    numbers, letters = read()
    tf.set_random_seed(1)
    x, y, loss, train, written = build(len(letters))
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = now = 0.0
        for step in range(steps + 1):
            at = random.randint(0, len(numbers) - LENGTH - 1, BATCH)
            rows = np.stack([numbers[i:i + LENGTH + 1] for i in at])
            now, _ = session.run([loss, train], {x: rows[:, :-1], y: rows[:, 1:]})
            first = first or now
            if step % 50 == 0:
                print("step %4d  loss %.3f" % (step, now))
        print("lost %.0f %% of the first loss" % (100 * (1 - now / first)))
        print("it writes: " + "".join(letters[i] for i in session.run(written)))


if __name__ == "__main__":
    main()
