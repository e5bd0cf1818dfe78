"""tf.contrib.factorization: k-means."""
import numpy as np
import pytest

import penstock.v1 as tf

KMeans = tf.contrib.factorization.KMeans
MIDDLES = ([4, 0, 0], [0, 4, 0], [0, 0, 4], [-4, 0, 0])


def points():
    rng = np.random.RandomState(0)
    x = np.concatenate([rng.randn(40, 3) + middle for middle in MIDDLES]).astype(np.float32)
    rng.shuffle(x)
    return x


POINTS = points()


def trained(steps=1, batch=80, **options):
    """(centers, mean distance before each step, runs of the initializer)."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        _, _, scores, ready, init, train = KMeans(x, 4, random_seed=5, kmc2_chain_length=30, **options).training_graph()
        session.run(tf.global_variables_initializer())
        runs = 0
        while not session.run(ready):
            session.run(init, {x: POINTS[:100]})
            runs += 1
        mean, means = tf.reduce_mean(scores[0]), []
        for i in range(steps):
            feed = {x: POINTS[i * 10:i * 10 + batch]}
            means.append(session.run(mean, feed))
            session.run(train, feed)
        return session.run(tf.global_variables()[0]), means, runs


def nearest(x, centers):
    return ((x[:, None] - centers) ** 2).sum(-1).argmin(1)


def test_a_step_over_all_points_puts_centers_in_the_middle():
    first = POINTS[:4]
    for clusters in (first, lambda inputs, wanted: inputs[0][:wanted]):
        centers, _, runs = trained(initial_clusters=clusters)
        place = nearest(POINTS[:80], first)
        np.testing.assert_allclose(centers, [POINTS[:80][place == j].mean(0) for j in range(4)], rtol=1e-5)
        assert runs == 1


def test_a_step_over_a_batch_moves_centers():
    """A center counts as one point: of its old place and of k new points it becomes the mean."""
    first = POINTS[:4]
    centers, _, _ = trained(initial_clusters=first, use_mini_batch=True)
    place = nearest(POINTS[:80], first)
    np.testing.assert_allclose(
        centers, [np.concatenate([first[j:j + 1], POINTS[:80][place == j]]).mean(0) for j in range(4)], rtol=1e-5)


def test_centers_follow_every_third_step():
    centers, means, _ = trained(3, initial_clusters=POINTS[:4], use_mini_batch=True, mini_batch_steps_per_iteration=3)
    np.testing.assert_array_equal(centers, POINTS[:4])  # steps so far have moved the other copy only
    np.testing.assert_allclose(means, [13.8, 15.019, 14.193], atol=1e-3)  # TensorFlow 1.15


@pytest.mark.parametrize("init, metric, runs, means", [  # TensorFlow 1.15
    ("random", "squared_euclidean", 1, [8.336, 6.589, 6.4, 5.607, 5.653, 6.031, 5.702, 5.729]),
    ("random", "cosine", 1, [0.207, 0.183, 0.178, 0.178, 0.189, 0.183, 0.188, 0.16]),
    ("kmeans_plus_plus", "squared_euclidean", 1, [5.15, 2.91, 3.022, 2.983, 2.741, 2.883, 2.817, 2.754]),
    ("kmeans_plus_plus", "cosine", 1, [0.097, 0.056, 0.059, 0.062, 0.057, 0.058, 0.058, 0.058]),
    ("kmc2", "squared_euclidean", 4, [9.629, 7.191, 7.061, 6.875, 6.303, 6.696, 7.517, 7.065]),
    ("kmc2", "cosine", 4, [0.216, 0.187, 0.192, 0.204, 0.205, 0.21, 0.22, 0.189]),
])
def test_centers_are_chosen_as_tensorflow_does(init, metric, runs, means):
    _, found, times = trained(8, initial_clusters=init, distance_metric=metric)
    np.testing.assert_allclose(found, means, atol=6e-4)
    assert times == runs


def test_cosines():
    centers, _, _ = trained(initial_clusters=POINTS[:4], distance_metric="cosine")
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, rtol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'foo'"):
        KMeans(None, 3, "foo")
    with pytest.raises(ValueError, match="Unsupported distance metric 'foo'"):
        KMeans(None, 3, distance_metric="foo")
