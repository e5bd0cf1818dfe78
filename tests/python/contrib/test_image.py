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
