"""Word vectors from a small text (skip-gram): words that are used alike get vectors that point the same way.

A step looks up a few rows of the table of vectors, so its gradient is sparse: it names these rows and touches no other.
"""
import argparse
import os
import re

import numpy as np
import tensorflow.compat.v1 as tf

TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "word2vec.txt")


def pairs_of(words, window):
    """[[word, neighbour]] for every two words that are at most `window` apart."""
    return np.array([(words[i], words[j]) for i in range(len(words))
                     for j in range(max(0, i - window), min(len(words), i + window + 1)) if j != i])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--text", default=TEXT)
    arguments = parser.parse_args()

    with open(arguments.text) as f:
        text = re.findall("[a-z]+", f.read().lower())
    vocabulary = sorted(set(text))
    number = {word: i for i, word in enumerate(vocabulary)}
    pairs = pairs_of([number[word] for word in text], window=1)
    print("%d words, %d of them different, %d pairs" % (len(text), len(vocabulary), len(pairs)))

    tf.set_random_seed(1)
    words = tf.placeholder(tf.int32, [None], name="words")
    neighbours = tf.placeholder(tf.int64, [None], name="neighbours")
    vectors = tf.get_variable("vectors", [len(vocabulary), 24], initializer=tf.random_uniform_initializer(-1.0, 1.0))
    weights = tf.get_variable("weights", [len(vocabulary), 24], initializer=tf.truncated_normal_initializer(stddev=0.2))
    biases = tf.get_variable("biases", [len(vocabulary)], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.nce_loss(
        weights, biases, tf.expand_dims(neighbours, 1), tf.nn.embedding_lookup(vectors, words),
        num_sampled=16, num_classes=len(vocabulary)))
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    gradients = optimizer.compute_gradients(loss)
    for gradient, variable in gradients:
        print("gradient of %s: %s" % (variable.op.name, type(gradient).__name__))
    train = optimizer.apply_gradients(gradients)
    length_one = tf.nn.l2_normalize(vectors, 1)
    similarity = tf.matmul(length_one, length_one, transpose_b=True)

    random = np.random.RandomState(1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        mean = 0.0
        for step in range(1, arguments.steps + 1):
            batch = pairs[random.randint(len(pairs), size=64)]
            _, value = sess.run([train, loss], {words: batch[:, 0], neighbours: batch[:, 1]})
            mean += (value - mean) / min(step, 500)
            if step % max(1, arguments.steps // 5) == 0:
                print("step %d  loss %.3f" % (step, mean))
        similar = sess.run(similarity)
    for word in ("monday", "spring", "farmer", "horse", "morning", "two"):
        nearest = [vocabulary[i] for i in np.argsort(-similar[number[word]])[1:5]]
        print("%-8s is like %s" % (word, ", ".join(nearest)))


if __name__ == "__main__":
    main()
