"""Samplers of classes give the numbers that TensorFlow 1.15.5 gave for the same seeds."""
import numpy as np
import pytest

import penstock.v1 as tf

# (sampler, unique, range_max): first samples, their expected counts, second samples; true classes are 1, 2, 3, 49.
THEIRS = {
    ("uniform", False, 50): ([19, 6, 46, 44, 32, 49, 2, 43], [0.16] * 8, [14, 38, 38, 36, 4, 20, 35, 9], [0.16] * 4),
    ("uniform", False, 64): (
        [25, 26, 38, 42, 14, 17, 44, 53], [0.125] * 8, [60, 60, 24, 8, 16, 10, 25, 25], [0.125] * 4),
    ("uniform", True, 50): ([19, 6, 46, 44, 32, 49, 2, 43], [0.16] * 8, [14, 38, 36, 4, 20, 35, 9, 12], [0.16] * 4),
    ("uniform", True, 64): (
        [25, 26, 38, 42, 14, 17, 44, 53], [0.125] * 8, [60, 24, 8, 16, 10, 25, 46, 50], [0.125] * 4),
    ("log_uniform", False, 50): (
        [38, 3, 7, 1, 40, 6, 17, 9], [0.051514, 0.454025, 0.239651, 0.824991, 0.049031, 0.271693, 0.110009, 0.193926],
        [40, 6, 3, 3, 34, 16, 3, 5], [0.824991, 0.58534, 0.454025, 0.040292]),
    ("log_uniform", False, 64): (
        [48, 3, 8, 1, 50, 8, 21, 11], [0.038717, 0.427643, 0.201918, 0.777053, 0.037214, 0.201918, 0.08519, 0.153398],
        [51, 7, 3, 4, 43, 20, 3, 5], [0.777053, 0.551328, 0.427643, 0.037951]),
    ("log_uniform", True, 50): (
        [38, 3, 7, 1, 40, 6, 17, 9], [0.051514, 0.454025, 0.239651, 0.824991, 0.049031, 0.271693, 0.110009, 0.193926],
        [40, 6, 3, 34, 16, 5, 28, 43], [0.824991, 0.58534, 0.454025, 0.040292]),
    ("log_uniform", True, 64): (
        [48, 3, 8, 1, 50, 21, 11, 2], [0.042723, 0.390084, 0.205525, 0.601324, 0.041095, 0.091856, 0.159912, 0.474104],
        [51, 7, 3, 4, 43, 20, 5, 6], [0.601324, 0.474104, 0.390084, 0.041893]),
}
SAMPLERS = {"uniform": tf.nn.uniform_candidate_sampler, "log_uniform": tf.nn.log_uniform_candidate_sampler}


@pytest.mark.parametrize("case", THEIRS)
def test_samples(case):
    name, unique, range_max = case
    first, sampled_count, second, true_count = THEIRS[case]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        result = SAMPLERS[name]([[1, 2], [3, 49]], 2, 8, unique, range_max, seed=5)
        got = sess.run(result)
        again = sess.run(result)
    assert got[0].tolist() == first and again[0].tolist() == second
    np.testing.assert_allclose(got[1].ravel(), true_count, atol=1e-6)
    np.testing.assert_allclose(got[2], sampled_count, atol=1e-6)


def test_all_candidates():
    with tf.Graph().as_default(), tf.Session() as sess:
        got = sess.run(tf.nn.all_candidate_sampler([[1], [3]], 1, 5, True))
    assert [value.tolist() for value in got] == [[0, 1, 2, 3, 4], [[1.0], [1.0]], [1.0] * 5]


def test_accidental_hits():
    with tf.Graph().as_default(), tf.Session() as sess:
        true_classes = tf.constant([[1, 2], [3, 4], [2, 2]], tf.int64)
        got = sess.run(tf.nn.compute_accidental_hits(true_classes, tf.constant([2, 9, 3, 2], tf.int64), 2))
    assert got[0].tolist() == [0, 1, 2, 2] and got[1].tolist() == [3, 2, 3, 3]
    assert got[2].tolist() == [np.finfo(np.float32).min] * 4


def test_losses():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        w = tf.constant(np.arange(40).reshape(10, 4) / 40.0, tf.float32)
        b, x, labels = tf.zeros([10]), tf.constant(np.ones([2, 4]), tf.float32), tf.constant([[1], [7]], tf.int64)
        loss = tf.nn.sampled_softmax_loss(w, b, labels, x, 4, 10, seed=3)
        np.testing.assert_allclose(sess.run(loss), [3.4009037, 0.6946117], rtol=1e-5)


def test_bad_input():
    with tf.Graph().as_default(), tf.Session() as sess:
        classes = tf.placeholder(tf.int64)
        one = tf.nn.uniform_candidate_sampler(classes, 1, 4, True, 3, name="few")[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)range is too small.*few"):
            sess.run(one, {classes: [[1]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a matrix"):
            sess.run(one, {classes: [1]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_true columns"):
            sess.run(one, {classes: [[1, 2]]})


# Sampler by frequency, unique: what two steps gave in TensorFlow 2.21, samples and their expected counts.
BY_FREQUENCY = {
    ("fixed", False): ([9, 9, 7, 4], [0.78338, 0.78338, 0.63135, 0.3754], [6, 3, 8, 2],
                       [0.55066, 0.27697, 0.70873, 0.16469]),
    ("fixed", True): ([9, 7, 4, 8], [0.72958, 0.64324, 0.4464, 0.68967], [6, 3, 8, 2],
                      [0.55066, 0.27697, 0.70873, 0.16469]),
    ("shard", True): ([1, 2, 4], [0.60912, 0.72987, 0.17346], [1, 2, 3], [0.60912, 0.72987, 0.84455]),
    ("learned", False): ([6, 3, 3, 6], [0.57143] * 4, [1, 4, 5, 3], [0.72727, 0.72727, 0.36364, 0.72727]),
    ("learned", True): ([6, 3, 0, 4], [0.78594] * 4, [1, 4, 5, 3], [0.72727, 0.72727, 0.36364, 0.72727]),
}
WEIGHTS = [1, 2, 3, 4.5, 5, 6, 7, 8]


def by_frequency(name, unique, tmp_path):
    true_classes = tf.constant([[0, 1], [3, 4]], tf.int64)
    if name == "learned":
        return tf.nn.learned_unigram_candidate_sampler(true_classes, 2, 4, unique, 7, seed=3)
    if name == "shard":
        return tf.nn.fixed_unigram_candidate_sampler(true_classes, 2, 3, unique, 5, unigrams=[*WEIGHTS, 9, 1],
                                                     num_shards=2, shard=1, seed=5)
    weights = {"unigrams": WEIGHTS}
    if unique:  # the same ones from a file
        weights = {"vocab_file": str(tmp_path / "words.csv")}
        (tmp_path / "words.csv").write_text("".join(f"word,more,{weight}\n" for weight in WEIGHTS))
    return tf.nn.fixed_unigram_candidate_sampler(true_classes, 2, 4, unique, 10, num_reserved_ids=2, distortion=0.75,
                                                 seed=5, **weights)


@pytest.mark.parametrize("case", BY_FREQUENCY)
def test_samples_by_frequency(case, tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        result = by_frequency(*case, tmp_path)
        steps = [sess.run(result) for _ in range(2)]
    for (samples, _, counts), theirs in zip(steps, [BY_FREQUENCY[case][:2], BY_FREQUENCY[case][2:]]):
        assert samples.tolist() == theirs[0]
        np.testing.assert_allclose(counts, theirs[1], atol=1e-5)


def test_bad_frequencies(tmp_path):
    (tmp_path / "words.csv").write_text("a,1\nb,many\n")

    def sample(message, range_max=2, unique=False, **args):
        with tf.Graph().as_default(), tf.Session() as sess:
            one = tf.nn.fixed_unigram_candidate_sampler(tf.constant([[1]], tf.int64), 1, 2, unique, range_max, **args)
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(one)

    sample("Must provide either vocab_file or unigrams")
    sample("Must only provide one", unigrams=[1, 2], vocab_file="x")
    sample("range_max is 2, but the number of classes with weights is 3", unigrams=[1, 2, 3])
    sample("Wrong vocabulary format at line: b,many", vocab_file=str(tmp_path / "words.csv"))
    sample("add up to 0", unigrams=[0, 0])
    sample("must not be negative", unigrams=[1, -1])
    sample("only 1 have a weight", unigrams=[0, 1], unique=True)
    sample(r"`true_candidate` out of range \[0, 1\), received 1", range_max=1, unigrams=[1])


@pytest.mark.parametrize("true", [-1, 5, 2**40])
def test_true_classes_out_of_range(true):
    with tf.Graph().as_default(), tf.Session() as session:
        classes = tf.constant([[2], [true]], tf.int64)
        for sample in (tf.nn.uniform_candidate_sampler, tf.nn.log_uniform_candidate_sampler,
                       tf.nn.learned_unigram_candidate_sampler):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"out of range \[0, 5\), received {true}"):
                session.run(sample(classes, 1, 3, True, 5))
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"out of range \[0, 3\), received {true}"):
            session.run(tf.nn.all_candidate_sampler(classes, 1, 3, True))
