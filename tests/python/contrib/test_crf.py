"""tf.contrib.crf: against all sequences of tags, written out."""
import itertools

import numpy as np
import pytest

import penstock.v1 as tf

crf = tf.contrib.crf
RNG = np.random.RandomState(0)
INPUTS = RNG.randn(3, 4, 3).astype(np.float32)
TRANSITIONS = RNG.randn(3, 3).astype(np.float32)
TAGS = RNG.randint(0, 3, (3, 4))
LENGTHS = [4, 2, 0]


def score(row, tags):
    return (sum(INPUTS[row, i, tag] for i, tag in enumerate(tags)) +
            sum(TRANSITIONS[a, b] for a, b in zip(tags, tags[1:])))


def all_scores(row, length):
    return {tags: score(row, tags) for tags in itertools.product(range(3), repeat=length)}


@pytest.mark.parametrize("static", [True, False])
def test_likelihood_and_decoding(static):
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs, given = tf.constant(INPUTS), tf.constant(TAGS)
        if not static:
            inputs = tf.placeholder_with_default(INPUTS, [None, None, 3])
            given = tf.placeholder_with_default(TAGS, [None, None])
        likelihood, _ = crf.crf_log_likelihood(inputs, given, tf.constant(LENGTHS), tf.constant(TRANSITIONS))
        tags, best = crf.crf_decode(inputs, tf.constant(TRANSITIONS), tf.constant(LENGTHS))
        likelihood, tags, best = sess.run([likelihood, tags, best])
    for row, length in enumerate(LENGTHS[:2]):
        scores = all_scores(row, length)
        total = np.log(sum(np.exp(v) for v in scores.values()))
        assert likelihood[row] == pytest.approx(score(row, TAGS[row, :length]) - total, abs=1e-4)
        assert tuple(tags[row, :length]) == max(scores, key=scores.get)
        assert best[row] == pytest.approx(max(scores.values()), abs=1e-4)
    assert likelihood[2] == 0
    assert tuple(crf.viterbi_decode(INPUTS[0], TRANSITIONS)[0]) == tuple(tags[0])


def test_sequences_of_one():
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs, lengths = tf.constant(INPUTS[:, :1]), tf.constant([1, 1, 0])
        norm = sess.run(crf.crf_log_norm(inputs, lengths, tf.constant(TRANSITIONS)))
        np.testing.assert_allclose(norm, [np.log(np.exp(INPUTS[i, 0]).sum()) for i in (0, 1)] + [0], rtol=1e-5)


def test_training_learns_the_transitions():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        likelihood, transitions = crf.crf_log_likelihood(tf.zeros([1, 6, 2]), tf.constant([[0, 1, 0, 1, 0, 1]]),
                                                         tf.constant([6]))
        assert transitions.op.name == "transitions"
        train = tf.train.AdamOptimizer(.1).minimize(-likelihood[0])
        sess.run(tf.global_variables_initializer())
        for _ in range(60):
            sess.run(train)
        learned = sess.run(transitions)
    assert learned[0, 1] > learned[0, 0] and learned[1, 0] > learned[1, 1]
