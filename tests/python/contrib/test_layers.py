"""tf.contrib.layers and tf.contrib.framework beyond the layers that every model has."""
import numpy as np
import pytest

import penstock.v1 as tf

layers, framework = tf.contrib.layers, tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(tensors))


def test_convolutions_and_pooling_in_three_dimensions():
    volume = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4, 1))
    largest, mean = run(layers.max_pool3d(volume, 2), layers.avg_pool3d(volume, 2))
    np.testing.assert_array_equal(largest.ravel(), [21, 23, 29, 31])
    np.testing.assert_array_equal(mean.ravel(), [10.5, 12.5, 18.5, 20.5])
    larger = layers.conv3d_transpose(volume, 3, 2, stride=2, scope="up")
    assert larger.shape.as_list() == [1, 4, 8, 8, 3]
    assert [v.op.name for v in framework.get_model_variables("up")] == ["up/weights", "up/biases"]
    with pytest.raises(ValueError, match="NCDHW or NDHWC"):
        layers.max_pool3d(volume, 2, data_format="NHWC")


def test_one_filter_for_all_channels():
    image = tf.constant(np.random.RandomState(0).randn(1, 4, 4, 3), tf.float32)
    plain = layers.conv2d_in_plane(image, 3, weights_initializer=tf.ones_initializer(), activation_fn=None)
    expected = tf.nn.depthwise_conv2d(image, tf.ones([3, 3, 3, 1]), [1, 1, 1, 1], "SAME")
    np.testing.assert_allclose(*run(plain, expected), rtol=1e-6)
    assert [v.name for v in tf.trainable_variables()] == ["ConvInPlane/weights:0", "ConvInPlane/biases:0"]


def test_pooling_of_a_type():
    image = tf.constant(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    largest = tf.contrib.slim.pool(image, 2, "MAX", stride=2)
    assert largest.op.name.startswith("max_pool")
    np.testing.assert_array_equal(run(largest)[0].ravel(), [5, 7, 13, 15])
    with pytest.raises(ValueError, match=">= 3"):
        tf.contrib.slim.pool(tf.zeros([2, 2]), 2, "AVG")


def test_images_and_sequences():
    image = tf.constant(np.arange(24).reshape(2, 2, 3, 2))
    sequence = layers.images_to_sequence(image)
    assert sequence.shape.as_list() == [3, 4, 2]
    there, back = run(sequence, layers.sequence_to_images(tf.constant(run(sequence)[0]), 2))
    np.testing.assert_array_equal(there[1, :, 0], [2, 8, 14, 20])
    np.testing.assert_array_equal(back, np.arange(24).reshape(2, 2, 3, 2))


def test_norms_and_maxima():
    x = tf.constant([[3., 4.], [0., 2.]])
    np.testing.assert_allclose(run(layers.unit_norm(x, 1))[0], [[.6, .8], [0, 1]], rtol=1e-6)
    np.testing.assert_array_equal(run(layers.maxout(tf.constant([[1., 5., 2., 3.]]), 2))[0], [[5, 3]])
    with pytest.raises(ValueError, match="multiple"):
        layers.maxout(tf.zeros([1, 3]), 2)
    with pytest.raises(ValueError, match="smaller than the input rank"):
        layers.unit_norm(x, 2)


def test_spatial_softmax_finds_the_place():
    image = np.zeros([1, 3, 5, 2], np.float32)
    image[0, 0, 4, 0] = image[0, 2, 0, 1] = 100
    np.testing.assert_allclose(run(layers.spatial_softmax(tf.constant(image)))[0], [[-1, 1, 1, -1]], atol=1e-6)
    assert [v.name for v in tf.trainable_variables()] == ["spatial_softmax/temperature:0"]


def test_sparse_dense_and_scaled_gradients():
    sparse = layers.dense_to_sparse(tf.constant([[0, 3], [4, 0]]))
    found = run(sparse)[0]
    np.testing.assert_array_equal(found.values, [3, 4])
    x = tf.constant([1., 2.])
    scaled = layers.scale_gradient(x, .5)
    np.testing.assert_array_equal(run(tf.gradients(scaled * [2., 3.], x)[0])[0], [1, 1.5])


def test_bags_of_words():
    ids = tf.constant([[1, 2, 0], [3, 0, 0]])
    bags = layers.bow_encoder(ids, 4, 2, initializer=tf.constant_initializer(np.arange(8.).reshape(4, 2)))
    np.testing.assert_allclose(run(bags)[0], [[3, 4], [6, 7]])
    with pytest.raises(ValueError, match="vocab size"):
        layers.bow_encoder(ids, None, 2)


def test_a_stack_of_partial_layers_is_named_after_their_function():
    layers.stack(tf.zeros([1, 2]), layers.elu, [3, 2])
    assert [v.op.name for v in tf.trainable_variables()] == [
        "Stack/fully_connected_1/weights", "Stack/fully_connected_1/biases", "Stack/fully_connected_2/weights",
        "Stack/fully_connected_2/biases"]


def test_shapes_are_checked_now_or_at_run():
    known = tf.zeros([2, 3])
    assert framework.with_shape([2, 3], known) is known
    with pytest.raises(ValueError, match="expected"):
        framework.with_shape([3, 2], known)
    fed = tf.placeholder(tf.float32, name="fed")
    checked = framework.with_same_shape(known, fed)
    assert checked.shape.as_list() == [2, 3]
    with tf.Session() as session:
        session.run(checked, {fed: np.zeros([2, 3])})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for fed:0"):
            session.run(checked, {fed: np.zeros([3, 2])})
    assert framework.get_placeholders(tf.get_default_graph()) == [fed]
    with pytest.raises(ValueError, match="integer"):
        framework.assert_scalar_int(tf.constant(1.))


def test_variables_are_dealt_out_and_assigned():
    with tf.device(framework.VariableDeviceChooser(2)):
        names = [framework.variable("v%d" % i, shape=[2]).device for i in range(3)]
    assert names == ["/job:ps/task:%d/device:CPU:0" % task for task in (0, 1, 0)]
    assert framework.VariableDeviceChooser()(None) == "/device:CPU:0"


def test_values_are_assigned_by_a_function():
    v = framework.variable("v", shape=[2])
    with tf.Session() as session:
        framework.assign_from_values_fn({"v": np.array([1., 2.])})(session)
        np.testing.assert_array_equal(session.run(v), [1, 2])
    np.testing.assert_array_equal(run(framework.reduce_sum_n([tf.constant([1., 2.]), tf.constant(3.)])), [6.])
