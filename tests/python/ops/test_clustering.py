"""What k-means needs. The draws are TensorFlow 2.21's for these seeds, distances NumPy's."""
import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")
ops = tf.raw_ops
POINTS = np.random.RandomState(0).randn(50, 3).astype("f")


def drawn(points, n, seed, retries):
    samples = ops.KmeansPlusPlusInitialization(
        points=points, num_to_sample=n, seed=seed, num_retries_per_sample=retries).numpy()
    return [int(np.flatnonzero((points == sample).all(1))[0]) for sample in samples]


@pytest.mark.parametrize("seed, retries, expected", [
    (0, 0, [29, 33, 0, 39, 16]), (0, 2, [18, 49, 5, 25, 27]), (0, -1, [18, 27, 24, 21, 28]),
    (1, 0, [48, 42, 10, 3, 24]), (1, 2, [41, 32, 45, 16, 29]), (2, -1, [5, 41, 20, 47, 36]),
    (12345, 0, [9, 26, 12, 23, 42]), (12345, 2, [27, 37, 2, 21, 31])])
def test_kmeans_plus_plus(seed, retries, expected):
    assert drawn(POINTS, 5, seed, retries) == expected


def test_points_that_are_all_one():
    samples = ops.KmeansPlusPlusInitialization(
        points=np.ones((6, 2), "f"), num_to_sample=4, seed=3, num_retries_per_sample=1)
    np.testing.assert_array_equal(samples, np.ones((4, 2)))


def test_chain():
    assert [int(ops.KMC2ChainInitialization(distances=abs(POINTS[:, 0]), seed=s)) for s in (0, 1, 7)] == [48, 48, 48]
    assert ops.KMC2ChainInitialization(distances=[1., 0., 0.], seed=5).numpy() == 0


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9])
def test_nearest_neighbors(k):
    points, centers = POINTS, POINTS[::7] + np.float32(.25)
    distances = ((points[:, None] - centers) ** 2).sum(-1)
    near, squared = ops.NearestNeighbors(points=points, centers=centers, k=k)
    k = min(k, len(centers))
    np.testing.assert_array_equal(near, np.argsort(distances, 1)[:, :k])
    np.testing.assert_allclose(squared, np.sort(distances, 1)[:, :k], rtol=1e-4, atol=1e-5)


def test_errors():
    def sample(points, n):
        return ops.KmeansPlusPlusInitialization(points=points, num_to_sample=n, seed=0, num_retries_per_sample=1)

    def nearest(points, centers, k=1):
        return ops.NearestNeighbors(points=points, centers=centers, k=k)

    for message, call in (
            (r"Expected num_to_sample <= points.rows\(\). 5 vs 2.", lambda: sample(POINTS[:2], 5)),
            ("Expected num_to_sample > 0", lambda: sample(POINTS, 0)), ("should be a matrix", lambda: sample([1.], 1)),
            (r"Expected points.rows\(\) > 0", lambda: sample(POINTS[:0], 1)),
            ("distances should be a vector", lambda: ops.KMC2ChainInitialization(distances=POINTS, seed=0)),
            (r"Expected distances_tensor.size\(\) > 0",
             lambda: ops.KMC2ChainInitialization(distances=np.zeros(0, "f"), seed=0)),
            ("Expected k >= 0", lambda: nearest(POINTS, POINTS, -1)),
            ("point_dimensions == center_dimensions: 3 vs 2", lambda: nearest(POINTS, POINTS[:, :2])),
            (r"Expected points.rows\(\) > 0", lambda: nearest(POINTS[:0], POINTS))):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            call()
