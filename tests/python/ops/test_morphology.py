"""Dilation and fractional pools: values, gradients, what they refuse."""
import numpy as np
import pytest

import penstock.v1 as tf


def dilated(x, filter, strides, rates, padding):
    """The definition, one window after the other."""
    sizes = [(f - 1) * r + 1 for f, r in zip(filter.shape, rates)]
    if padding == "SAME":
        out = [-(-n // s) for n, s in zip(x.shape[1:3], strides)]
        pads = [max(0, (o - 1) * s + k - n) for o, s, k, n in zip(out, strides, sizes, x.shape[1:3])]
    else:
        out, pads = [(n - k) // s + 1 for n, s, k in zip(x.shape[1:3], strides, sizes)], [0, 0]
    x = np.pad(x, [[0, 0]] + [[p // 2, p - p // 2] for p in pads] + [[0, 0]], constant_values=-np.inf)
    y = np.empty([x.shape[0], *out, x.shape[3]])
    for i in range(out[0]):
        for j in range(out[1]):
            window = x[:, i * strides[0]:i * strides[0] + sizes[0]:rates[0],
                       j * strides[1]:j * strides[1] + sizes[1]:rates[1]]
            y[:, i, j] = (window + filter).max((1, 2))
    return y


CASES = [([1, 1], [1, 1], "SAME"), ([2, 1], [1, 2], "SAME"), ([1, 2], [2, 1], "VALID")]


@pytest.mark.parametrize("strides, rates, padding", CASES)
def test_dilation(strides, rates, padding):
    rng = np.random.RandomState(0)
    image, filter = rng.normal(size=[2, 6, 5, 2]), rng.normal(size=[2, 3, 2])
    with tf.Graph().as_default(), tf.Session() as sess:
        x, f = tf.constant(image), tf.constant(filter)
        y = tf.nn.dilation2d(x, f, [1, *strides, 1], [1, *rates, 1], padding)
        np.testing.assert_allclose(sess.run(y), dilated(image, filter, strides, rates, padding))
        for value, initial in ((x, image), (f, filter)):
            shape = value.shape.as_list()
            assert tf.test.compute_gradient_error(value, shape, y, y.shape.as_list(), initial, delta=1e-6) < 1e-6


def test_bad_dilations_are_refused():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, f = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        y = tf.nn.dilation2d(x, f, [1] * 4, [1] * 4, "VALID")
        for image, filter in ([3, 3, 1], [1, 1, 1]), ([1, 3, 3, 1], [1, 1, 2]), ([1, 3, 3, 1], [5, 1, 1]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(y, {x: np.zeros(image), f: np.zeros(filter)})


IMAGE = np.arange(60, dtype=np.float32).reshape(1, 12, 5, 1)


@pytest.mark.parametrize("pseudo_random, rows", [(True, [0, 2, 4, 6, 7, 9, 11, 12]),
                                                 (False, [0, 2, 4, 6, 7, 8, 10, 12])])
def test_fractional_pools_draw_tensorflows_regions(pseudo_random, rows):
    columns = [0, 2, 4, 5]
    options = dict(value=IMAGE, pooling_ratio=[1, 1.7, 1.3, 1], pseudo_random=pseudo_random, deterministic=True, seed=5,
                   seed2=6)
    with tf.Graph().as_default(), tf.Session() as sess:
        for overlapping in (False, True):
            y, r, c = sess.run(tf.raw_ops.FractionalMaxPool(overlapping=overlapping, **options))
            assert r.tolist() == rows and c.tolist() == columns
            average = sess.run(tf.raw_ops.FractionalAvgPool(overlapping=overlapping, **options))[0]
            for i in range(7):
                for j in range(3):
                    part = IMAGE[0, rows[i]:rows[i + 1] + overlapping, columns[j]:columns[j + 1] + overlapping]
                    assert y[0, i, j] == part.max() and average[0, i, j] == part.mean()


@pytest.mark.parametrize("seeds, pseudo_random, columns", [
    ((3, 5), False, [0, 2, 3, 5, 7, 8, 10, 12, 13, 15, 17, 19, 21, 23]),
    ((0, 4), False, [0, 2, 4, 6, 8, 10, 11, 13, 14, 16, 18, 20, 21, 23]),
    ((3, 5), True, [0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 18, 19, 21, 23]),
    ((0, 4), True, [0, 1, 3, 5, 7, 8, 10, 12, 14, 15, 17, 19, 21, 23])])
def test_regions_of_equal_sizes_draw_numbers_too(seeds, pseudo_random, columns):
    image = np.arange(23, dtype=np.float32).reshape(1, 1, 23, 1)
    y = tf.raw_ops.FractionalMaxPool(value=image, pooling_ratio=[1, 1, 1.7, 1], seed=seeds[0], seed2=seeds[1],
                                     deterministic=True, pseudo_random=pseudo_random)
    with tf.Session() as sess:
        assert sess.run(y.col_pooling_sequence).tolist() == columns


@pytest.mark.parametrize("op", ["FractionalMaxPool", "FractionalAvgPool"])
def test_gradients_of_fractional_pools(op):
    image = np.random.RandomState(1).permutation(120).reshape(2, 10, 6, 1) * 1.0
    with tf.Graph().as_default(), tf.Session():
        for overlapping in (False, True):
            x = tf.constant(image)
            y = getattr(tf.raw_ops, op)(value=x, pooling_ratio=[1, 1.4, 1.3, 1], deterministic=True, seed=1, seed2=2,
                                        overlapping=overlapping)[0]
            assert tf.test.compute_gradient_error(x, image.shape, y, y.shape.as_list(), image) < 1e-6


def test_bad_regions_are_refused():
    with tf.Graph().as_default(), tf.Session() as sess:
        rows = tf.placeholder(tf.int64)
        part = IMAGE[:, :2, :2]
        y = tf.raw_ops.FractionalMaxPoolGrad(orig_input=IMAGE, orig_output=part, out_backprop=part,
                                             row_pooling_sequence=rows, col_pooling_sequence=[0, 2, 5])
        assert sess.run(y, {rows: [0, 6, 12]}).shape == IMAGE.shape
        for bad in ([0, 6], [0, 6, 99], [-1, 6, 12], [6, 6, 6]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="sequence"):
                sess.run(y, {rows: bad})
