"""tf.contrib.metrics over batches: what each sees of all of them."""
import numpy as np

import penstock.v1 as tf

metrics = tf.contrib.metrics
RNG = np.random.RandomState(0)
A, B = RNG.randn(12).astype("f"), RNG.randn(12).astype("f")


def streamed(make, batches):
    """The value of (value, update) after each batch, as the update has it and at the end as the value has it."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float32, [None]) for _ in batches[0]]
        value, update = make(*inputs)
        session.run(tf.local_variables_initializer())
        updates = [session.run(update, dict(zip(inputs, batch))) for batch in batches]
        return updates, session.run(value)


def batches(*arrays):
    return list(zip(*(np.split(array, 4) for array in arrays)))


def test_covariance_and_correlation():
    updates, covariance = streamed(metrics.streaming_covariance, batches(A, B))
    np.testing.assert_allclose(updates, [np.cov(A[:n], B[:n])[0, 1] for n in (3, 6, 9, 12)], rtol=1e-4)
    np.testing.assert_allclose(covariance, updates[-1])
    updates, correlation = streamed(metrics.streaming_pearson_correlation, batches(A, B))
    np.testing.assert_allclose(updates, [np.corrcoef(A[:n], B[:n])[0, 1] for n in (3, 6, 9, 12)], rtol=1e-4)
    np.testing.assert_allclose(correlation, updates[-1])


def test_weights_count():
    weights = (np.arange(12) % 3).astype("f")
    _, covariance = streamed(lambda a, b, w: metrics.streaming_covariance(a, b, weights=w), batches(A, B, weights))
    np.testing.assert_allclose(covariance, np.cov(A, B, fweights=weights.astype(int))[0, 1], rtol=1e-4)
    _, number = streamed(lambda a, w: metrics.count(a, weights=w), batches(A, weights))
    assert number == 12


def test_values_of_all_batches():
    updates, values = streamed(metrics.streaming_concat, batches(A))
    np.testing.assert_array_equal(updates, [3, 6, 9, 12])
    np.testing.assert_array_equal(values, A)
    _, values = streamed(lambda a: metrics.streaming_concat(a, max_size=7), batches(A))
    np.testing.assert_array_equal(values, A[:7])


def test_best_f1_score():
    def score(labels, predictions):
        return metrics.f1_score(labels, predictions, num_thresholds=5)

    labels, predictions = np.float32([0, 1, 0, 1, 1, 0, 1, 0]), np.float32([0, .2, .4, .4, .7, .9, .8, .1])
    updates, value = streamed(score, batches(labels, predictions))

    def best(n):
        scores = []
        for threshold in (-1e-7, .25, .5, .75, 1 + 1e-7):
            called = predictions[:n] > threshold
            hits = (called & (labels[:n] == 1)).sum()
            scores.append(2 * hits / (called.sum() + labels[:n].sum()))
        return max(scores)

    np.testing.assert_allclose(updates, [best(n) for n in (2, 4, 6, 8)], atol=1e-5)
    np.testing.assert_allclose(value, updates[-1])
