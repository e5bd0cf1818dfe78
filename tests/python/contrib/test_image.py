"""tf.contrib.image: where pixels go."""
import numpy as np
import pytest

import penstock.v1 as tf

image = tf.contrib.image


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


PICTURE = np.arange(1, 10, dtype=np.float32).reshape(3, 3)


def test_pictures_move_and_turn():
    np.testing.assert_array_equal(run(image.translate(PICTURE, [1, 0])), [[0, 1, 2], [0, 4, 5], [0, 7, 8]])
    np.testing.assert_array_equal(run(image.rotate(PICTURE, np.pi / 2)), np.rot90(PICTURE))
    batch = np.stack([PICTURE, PICTURE])[..., None]
    turned = run(image.rotate(batch, [0., np.pi]))[..., 0]
    np.testing.assert_array_equal(turned, [PICTURE, np.rot90(PICTURE, 2)])
    half = run(image.translate(PICTURE[:, :, None], [.5, 0.], "bilinear"))[..., 0]
    np.testing.assert_allclose(half, [[.5, 1.5, 2.5], [2, 4.5, 5.5], [3.5, 7.5, 8.5]])


def test_transforms_compose():
    there, back = [1., 0, 2, 0, 1, 1, 0, 0], [1., 0, -2, 0, 1, -1, 0, 0]
    np.testing.assert_allclose(run(image.compose_transforms(there, back)), [[1, 0, 0, 0, 1, 0, 0, 0]])
    np.testing.assert_array_equal(run(image.transform(PICTURE, [2., 0, 0, 0, 2, 0, 0, 0], output_shape=[2, 2])),
                                  [[1, 3], [7, 9]])


def test_wrong_ranks_are_refused():
    with pytest.raises(TypeError, match="between 2 and 4"):
        image.rotate(tf.zeros([3]), 0.)
    with pytest.raises(TypeError, match="rank 0 or 1"):
        image.rotate(PICTURE, [[0.]])
    with pytest.raises(TypeError, match="Invalid dtype"):
        image.translate(tf.zeros([2, 2], tf.bool), [0, 0])
    with pytest.raises(ValueError, match="new_height"):
        image.transform(PICTURE, [1., 0, 0, 0, 1, 0, 0, 0], output_shape=[1, 2, 3])


def test_rows_and_columns_are_matched_greedily():
    """Answers of TensorFlow 1.15; of the two distances 0.1 and of the two 0.5 that are equal, the heap chooses."""
    distances = np.float32([[5, 2, .5, .5], [1, .1, 3, 2], [.1, .2, .3, .5]])
    for rows, top_k, expected in [(-1, -1, ([2, 1, 0], [2, 1, 0, -1])), (2, -1, ([2, 1, -1], [-1, 1, 0, -1])),
                                  ([3.], 1, ([-1, 1, -1], [-1, 1, -1, -1])), (-1, 2, ([-1, 1, 0], [2, 1, -1, -1]))]:
        found = run(image.bipartite_match(distances, rows, top_k))
        assert [f.tolist() for f in found] == list(expected) and found[0].dtype == np.int32
    columns, rows = image.bipartite_match(tf.placeholder(tf.float32, [3, None]), 1.)
    assert columns.shape.as_list() == [3] and rows.shape.as_list() == [None] and columns.op.type == "BipartiteMatch"
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 5 rows in distance_mat, but only got 3 rows"):
        run(image.bipartite_match(distances, 5.))


def test_pixels_come_from_where_the_flow_points():
    picture = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2) ** 1.3
    flow = np.random.RandomState(0).uniform(-1.5, 1.5, (2, 3, 4, 2)).astype(np.float32)
    np.testing.assert_allclose(  # TensorFlow 1.15
        run(image.dense_image_warp(picture, flow))[1, 1],
        [[94.516685, 98.24393], [126.09592, 130.0793], [93.01571, 96.724686], [79.33134, 82.91586]], rtol=1e-6)
    moved = run(image.dense_image_warp(picture, np.broadcast_to(np.float64([0, 1]), (2, 3, 4, 2))))
    np.testing.assert_allclose(moved[:, :, 1:], picture[:, :, :-1])
    np.testing.assert_allclose(moved[:, :, 0], picture[:, :, 0])  # the border stands for what is outside
    with pytest.raises(ValueError):
        image.dense_image_warp(picture[0], flow)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Grid height must be at least 2"):
        run(image.dense_image_warp(picture[:, :1], flow[:, :1]))
