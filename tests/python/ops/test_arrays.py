"""Array functions against NumPy, and the checks they make when the graph is built."""
import numpy as np
import pytest

import penstock.v1 as tf


def run(build):
    """The values of what `build` makes in a new graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("index", [
    0, -1, slice(1, None), (slice(None), 1), (Ellipsis, 0), (Ellipsis, slice(None, None, -1)), (None, 1),
    (slice(None), None, slice(0, 2)), (1, 2, 3), (slice(0, 2), slice(-2, None), slice(3, 0, -2)),
])
def test_slices_are_numpys(index):
    np.testing.assert_array_equal(run(lambda: tf.constant(X)[index]), X[index])


def test_slices_by_tensors_and_masks():
    got = run(lambda: [tf.constant(X)[tf.constant(1), :tf.constant(2)], tf.constant(X)[tf.constant(X) > 20],
                       tf.constant(X)[tf.constant(1, tf.int64):]])
    np.testing.assert_array_equal(got[0], X[1, :2])
    np.testing.assert_array_equal(got[1], X[X > 20])
    np.testing.assert_array_equal(got[2], X[1:])


@pytest.mark.parametrize("bad", ["a", 1.5, [1.0], tf])
def test_an_index_must_be_an_integer(bad):
    with tf.Graph().as_default(), pytest.raises(TypeError, match="valid indices"):
        tf.constant(X)[bad]


def test_joining_and_splitting():
    a, b = X[0], X[1]
    got = run(lambda: [tf.stack([a, b], axis=1), tf.concat([a, b], 0), tf.unstack(tf.constant(X), axis=1)[2],
                       tf.split(tf.constant(X), [1, 2], 1)[1], tf.split(tf.constant(X), 2, 2)[0],
                       tf.pad(a, [[1, 0], [0, 2]], constant_values=7), tf.pad(a, [[1, 1], [1, 1]], "REFLECT"),
                       tf.repeat(tf.constant([[1, 2], [3, 4]]), [1, 2], axis=0), tf.tile([1, 2], [2])])
    wanted = [np.stack([a, b], 1), np.concatenate([a, b]), X[:, 2], X[:, 1:], X[:, :, :2],
              np.pad(a, [[1, 0], [0, 2]], constant_values=7), np.pad(a, 1, mode="reflect"),
              np.repeat([[1, 2], [3, 4]], [1, 2], axis=0), [1, 2, 1, 2]]
    for value, expected in zip(got, wanted):
        np.testing.assert_array_equal(value, expected)


def test_gathering():
    got = run(lambda: [tf.gather(tf.constant(X), [2, 0], axis=1), tf.gather_nd(tf.constant(X), [[0, 1], [1, 2]]),
                       tf.batch_gather(tf.constant(X[0]), [[0, 1], [3, 3], [2, 2]]),
                       tf.boolean_mask(tf.constant(X), [True, False, True], axis=1),
                       tf.where(tf.constant([[True, False], [False, True]]))])
    wanted = [X[:, [2, 0]], X[[0, 1], [1, 2]], np.take_along_axis(X[0], np.array([[0, 1], [3, 3], [2, 2]]), 1),
              X[:, [0, 2]], [[0, 0], [1, 1]]]
    for value, expected in zip(got, wanted):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 100])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_places_in_order(size, dtype):
    rng = np.random.RandomState(0)
    order = np.sort(rng.randint(0, 40, (3, size)).astype(dtype), 1)
    wanted = rng.randint(-3, 45, (3, 19)).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as sess:
        for side in ("left", "right"):
            np.testing.assert_array_equal(sess.run(tf.searchsorted(order, wanted, side)),
                                          [np.searchsorted(o, w, side) for o, w in zip(order, wanted)])


def test_making():
    got = run(lambda: [tf.one_hot([2, -1], 3), tf.sequence_mask([1, 3], 4), tf.meshgrid([1, 2], [3, 4, 5])[1],
                       tf.eye(2, 3), tf.zeros([2, 0]), tf.ones([100, 20], tf.int64), tf.zeros([1], tf.string)])
    wanted = [[[0, 0, 1], [0, 0, 0]], [[1, 0, 0, 0], [1, 1, 1, 0]], np.meshgrid([1, 2], [3, 4, 5])[1], np.eye(2, 3),
              np.zeros([2, 0]), np.ones([100, 20]), np.array([b""], dtype=object)]
    for value, expected in zip(got, wanted):
        np.testing.assert_array_equal(value, expected)


def test_static_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        assert tf.transpose(x).shape.as_list() == [3, None]
        assert tf.pad(x, [[1, 1], [0, 2]]).shape.as_list() == [None, 5]
        assert tf.boolean_mask(x, [True, False, True], axis=1).shape.as_list() == [None, None]
        assert x[0].shape.as_list() == [3]
        assert tf.expand_dims(x, 1).shape.as_list() == [None, 1, 3]
        assert tf.sequence_mask([1, 2], 5).shape.as_list() == [2, 5]


@pytest.mark.parametrize("build, error, message", [
    (lambda x: tf.expand_dims(x), ValueError, "axis"),
    (lambda x: tf.expand_dims(x, 0, dim=1), ValueError, "Cannot specify both"),
    (lambda x: tf.squeeze(x, 0, squeeze_dims=[0]), ValueError, "Cannot specify both"),
    (lambda x: tf.stack([x, x], axis=9), ValueError, r"axis = 9 not in \[-4, 4\)"),
    (lambda x: tf.unstack(x, axis=-4), ValueError, r"axis = -4 not in \[-3, 3\)"),
    (lambda x: tf.unstack(tf.placeholder(tf.float32)), ValueError, "Cannot infer num from shape"),
    (lambda x: tf.split(x, tf.constant(2)), ValueError, "Rank-0 tensors are not supported"),
    (lambda x: tf.pad(x, [[0, 0]] * 3, "OTHER"), ValueError, "Unknown padding mode"),
    (lambda x: tf.where(x > 0, x), ValueError, "both be non-None or both be None"),
    (lambda x: tf.boolean_mask(x, True), ValueError, "mask cannot be scalar"),
    (lambda x: tf.one_hot([1], 2, 1, 2.0), TypeError, "does not match"),
    (lambda x: tf.meshgrid([1], indexing="yx"), ValueError, "indexing parameter"),
    (lambda x: tf.sequence_mask([1], [2]), ValueError, "maxlen must be scalar"),
    (lambda x: tf.searchsorted([[1]], [[1]], side="up"), ValueError, "side must be either"),
    (lambda x: tf.linalg.transpose([1]), ValueError, "rank >= 2"),
    (lambda x: x[0].assign(1), ValueError, "Sliced assignment is only supported for variables"),
    (lambda x: tf.edit_distance(x, x), TypeError, "Hypothesis must be a SparseTensor"),
])
def test_refused_when_built(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build(tf.constant(X))


def test_rows_in_place():
    from penstock._src.ops.queues import inplace_ops
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.zeros([4, 2])
        y = inplace_ops.inplace_update(x, [0, -1], [[1.0, 2.0], [3.0, 4.0]])
        y = inplace_ops.inplace_add(y, 1, [5.0, 6.0])
        y = inplace_ops.inplace_sub(y, None, tf.ones([4, 2]))
        before, after = session.run([x, y])
        assert not before.any()
        np.testing.assert_array_equal(after, [[0, 1], [4, 5], [-1, -1], [2, 3]])
        np.testing.assert_array_equal(session.run(inplace_ops.empty_like(y, init=True)), np.zeros([4, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="i must be a vector"):
            session.run(inplace_ops.inplace_update([[1.0]], [[0]], [[10.0]]))
