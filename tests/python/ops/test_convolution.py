"""Large convolutions of floats, which take other ways than small ones: sums over tiles, and Winograd's algorithm."""

import numpy as np
import pytest

import penstock.v1 as tf

# image, channels, filters of k x k, outputs, stride, dilation, padding
CASES = [
    (2, 15, 13, 48, 3, 96, 1, 1, "SAME"),  # Winograd's, with tiles cut off
    (1, 30, 21, 32, 3, 64, 1, 1, "VALID"),
    (1, 7, 7, 256, 3, 256, 1, 1, "SAME"),  # with small tiles
    (2, 11, 9, 64, 1, 160, 1, 1, "SAME"),  # products of matrices
    (2, 11, 9, 300, 1, 64, 2, 1, "SAME"),
    (3, 17, 19, 40, 5, 33, 1, 1, "VALID"),  # windows copied all, and by tiles
    (1, 40, 40, 20, 3, 100, 2, 1, "SAME"),
    (2, 20, 20, 32, 3, 64, 1, 2, "SAME"),
    (2, 23, 19, 32, 3, 64, 1, 3, "SAME"),  # dilated, as plain ones of uneven sizes
    (1, 29, 31, 48, 3, 96, 1, 2, "VALID"),
    (1, 1, 1, 320, 1, 64, 1, 1, "SAME"),  # few windows, which read the filter where it lies
    (1, 2, 2, 192, 3, 128, 1, 1, "SAME"),
    (1, 3, 2, 512, 1, 96, 1, 1, "SAME"),
    (5, 3, 3, 64, 3, 96, 2, 1, "SAME"),
    (1, 2, 3, 130, 3, 70, 1, 1, "SAME"),
]


def convolve(x, f, stride, dilation, padding):
    """In double precision, tap by tap."""
    (_, *size, _), (k, _, _, outputs) = x.shape, f.shape
    reach = (k - 1) * dilation + 1
    if padding == "SAME":
        out = [-(-s // stride) for s in size]
        pads = [max((o - 1) * stride + reach - s, 0) for o, s in zip(out, size)]
        x = np.pad(x, ((0, 0), *((p // 2, p - p // 2) for p in pads), (0, 0)))
    else:
        out = [(s - reach) // stride + 1 for s in size]
    y = np.zeros((len(x), *out, outputs))
    rows, columns = ((o - 1) * stride + 1 for o in out)
    for a in range(k):
        for b in range(k):
            seen = x[:, a * dilation:a * dilation + rows:stride, b * dilation:b * dilation + columns:stride]
            y += seen.astype(float) @ f[a, b].astype(float)
    return y


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients(case):
    n, h, w, channels, k, outputs, stride, dilation, padding = case
    rng = np.random.default_rng(1)
    x_value = rng.standard_normal((n, h, w, channels)).astype(np.float32)
    f_value = rng.standard_normal((k, k, channels, outputs)).astype(np.float32)
    wanted = convolve(x_value, f_value, stride, dilation, padding)
    bias_value = rng.standard_normal(outputs).astype(np.float32)
    dy_value = rng.standard_normal(wanted.shape).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        x, f = tf.placeholder(tf.float32, x_value.shape), tf.Variable(f_value)
        y = tf.nn.conv2d(x, f, [1, stride, stride, 1], padding, dilations=[1, dilation, dilation, 1])
        fused = tf.nn.relu(tf.nn.bias_add(
            tf.nn.conv2d(x, f, [1, stride, stride, 1], padding, dilations=[1, dilation, dilation, 1]), bias_value))
        dx, = tf.gradients(y, x, tf.constant(dy_value))
        sess.run(f.initializer)
        for _ in range(3):  # packed filters are kept from the second run on
            got, rectified, gradient = sess.run([y, fused, dx], {x: x_value})
            scale = wanted.std()
            np.testing.assert_allclose(got / scale, wanted / scale, atol=3e-5)
            np.testing.assert_allclose(rectified / scale, np.maximum(wanted + bias_value, 0) / scale, atol=3e-5)
            # <dy, conv(v)> = <dx, v>
            v = rng.standard_normal(x_value.shape)
            left = np.sum(dy_value * convolve(v, f_value, stride, dilation, padding))
            assert abs(left - np.sum(gradient * v)) < 1e-5 * scale * np.sqrt(dy_value.size) * 10
        sess.run(f.assign(2 * f_value))
        np.testing.assert_allclose(sess.run(y, {x: x_value}) / scale, 2 * wanted / scale, atol=6e-5)


@pytest.mark.parametrize("size, k, stride", [(2, 3, 1), (4, 1, 1), (6, 3, 2)])
def test_a_filter_read_in_place_gives_the_bits_of_a_packed_one(size, k, stride):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((1, size, size, 320)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        f = tf.Variable(rng.standard_normal((k, k, 320, 128)).astype(np.float32))
        y = tf.nn.conv2d(x, f, [1, stride, stride, 1], "SAME")
        sess.run(f.initializer)
        first = sess.run(y)  # nothing is kept of the filter before the second run
        for _ in range(2):
            np.testing.assert_array_equal(sess.run(y), first)


@pytest.mark.parametrize("size, channels, outputs", [(32, 3, 64), (15, 64, 128), (4, 256, 512)])
def test_gradients_with_stride_element_by_element(size, channels, outputs):
    rng = np.random.default_rng(2)
    x_value = rng.standard_normal((4, size, size, channels)).astype(np.float32)
    f_value = rng.standard_normal((5, 5, channels, outputs)).astype(np.float32)
    out = -(-size // 2)
    dy_value = rng.standard_normal((4, out, out, outputs)).astype(np.float32)
    before, after = divmod((out - 1) * 2 + 5 - size, 2)
    after += before
    x, f, dy = (v.astype(float) for v in (np.pad(x_value, ((0, 0), *[(before, after)] * 2, (0, 0))), f_value, dy_value))
    y, dx, df = 0, np.zeros_like(x), np.zeros_like(f)
    for a in range(5):
        for b in range(5):
            under = np.s_[:, a:a + 2 * out - 1:2, b:b + 2 * out - 1:2]
            y = y + x[under] @ f[a, b]
            dx[under] += dy @ f[a, b].T
            df[a, b] = np.tensordot(x[under], dy, ((0, 1, 2), (0, 1, 2)))
    inside = slice(before, before + size)
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.constant(x_value), tf.constant(f_value)
        result = tf.nn.conv2d(*given, [1, 2, 2, 1], "SAME")
        got = sess.run([result, *tf.gradients(result, given, tf.constant(dy_value))])
    for g, wanted in zip(got, (y, dx[:, inside, inside], df)):
        # One running sum of 6400 products errs by about 1e-6 of what is usual among the results.
        assert np.sqrt(np.mean((g - wanted) ** 2)) < 3e-6 * wanted.std()
        assert np.abs(g - wanted).max() < 2e-5 * wanted.std()


@pytest.mark.parametrize("value", [np.inf, np.nan, 3e38])
def test_what_is_not_finite_stays_where_it_is(value):
    x_value = np.full((1, 16, 16, 32), 1e-3, np.float32)
    x_value[0, 5, 6, 7] = value
    f_value = np.random.default_rng(1).uniform(0.5, 2, (3, 3, 32, 64)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, x_value.shape)
        y = sess.run(tf.nn.conv2d(x, tf.constant(f_value), [1, 1, 1, 1], "SAME"), {x: x_value})
    touched = np.zeros((16, 16), bool)
    touched[4:7, 5:8] = True
    assert np.isfinite(y[0, ~touched]).all()
    np.testing.assert_allclose(y[0, 10, 10], 1e-3 * f_value.sum((0, 1, 2)), rtol=1e-4)
    if not np.isfinite(value):
        np.testing.assert_array_equal(y[0, touched], np.broadcast_to(np.float32(value), (9, 64)))


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(1)
    x_value = rng.standard_normal((2, 28, 28, 64)).astype(np.float32)
    results = []
    for threads in (1, 3):
        config = tf.ConfigProto(intra_op_parallelism_threads=threads)
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            x = tf.placeholder(tf.float32, x_value.shape)
            for k, outputs, stride in ((3, 64, 1), (1, 128, 1), (3, 64, 2)):
                f = tf.constant(np.random.default_rng(k).standard_normal((k, k, 64, outputs)).astype(np.float32))
                results.append(sess.run(tf.nn.conv2d(x, f, [1, stride, stride, 1], "SAME"), {x: x_value}))
    for one, three in zip(results[:3], results[3:]):
        np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("channels, outputs", [(1, 1), (3, 1), (3, 2), (1, 8), (5, 1), (7, 1)])
@pytest.mark.parametrize("k, stride, dilation, padding", [(3, 1, 1, "SAME"), (5, 1, 2, "SAME"), (4, 1, 1, "VALID"),
                                                          (3, 2, 1, "SAME")])
def test_depthwise_of_few_channels(channels, outputs, k, stride, dilation, padding):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 19, 37, channels)).astype(np.float32)
    f = rng.standard_normal((k, k, channels, outputs)).astype(np.float32)
    wanted = np.concatenate([convolve(x[..., c:c + 1], f[:, :, c:c + 1], stride, dilation, padding)
                             for c in range(channels)], -1)
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.constant(x)
        y = tf.nn.depthwise_conv2d(image, f, [1, stride, stride, 1], padding, dilations=[dilation, dilation])
        dy = rng.standard_normal(wanted.shape).astype(np.float32)
        got, dx = sess.run([y, tf.gradients(y, image, tf.constant(dy))[0]])
    np.testing.assert_allclose(got, wanted, atol=2e-5)
    np.testing.assert_allclose(np.sum(dx * x), np.sum(dy * wanted), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("channels, outputs", [(2, 1), (5, 2), (40, 1), (3, 9)])
@pytest.mark.parametrize("k, stride, dilation, padding", [(3, 1, 1, "SAME"), (3, 1, 2, "SAME"), (2, 1, 1, "VALID"),
                                                          (3, 2, 1, "SAME"), (1, 2, 1, "VALID")])
def test_depthwise_of_doubles(channels, outputs, k, stride, dilation, padding):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 9, 14, channels))
    f = rng.standard_normal((k, k, channels, outputs))

    def wanted(x, f):
        return np.concatenate([convolve(x[..., c:c + 1], f[:, :, c:c + 1], stride, dilation, padding)
                               for c in range(channels)], -1)

    with tf.Graph().as_default(), tf.Session() as sess:
        image, kernel = tf.constant(x), tf.constant(f)
        y = tf.nn.depthwise_conv2d(image, kernel, [1, stride, stride, 1], padding, dilations=[dilation, dilation])
        dy = rng.standard_normal(y.shape)
        got, dx, df = sess.run([y, *tf.gradients(y, [image, kernel], tf.constant(dy))])
    np.testing.assert_allclose(got, wanted(x, f), atol=1e-13)
    # Both gradients in a direction of all elements: the convolution is linear in image and filter.
    u, v = rng.standard_normal(x.shape), rng.standard_normal(f.shape)
    np.testing.assert_allclose(np.sum(dx * u), np.sum(dy * wanted(u, f)), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sum(df * v), np.sum(dy * wanted(x, v)), rtol=1e-10, atol=1e-10)


def test_depthwise_formats_and_paddings_go_by_place():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, f, ones = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1]
        y = tf.nn.depthwise_conv2d_native(x, f, ones, "SAME", "NHWC")
        padded = tf.nn.depthwise_conv2d_native(x, f, ones, [[0, 0], [0, 1], [0, 1], [0, 0]])
        back = tf.nn.depthwise_conv2d_backprop_input([1, 3, 3, 1], f, y, ones, "SAME", "NHWC")
        of_filter = tf.nn.depthwise_conv2d_native_backprop_filter(x, [2, 2, 1, 1], y, ones, "SAME", "NHWC")
        values = sess.run([y, padded, back, of_filter])
        assert values[0].ravel().tolist() == [4, 4, 2, 4, 4, 2, 2, 2, 1] and (values[1] == values[0]).all()
        assert values[2].ravel().tolist() == [4, 8, 6, 8, 16, 12, 6, 12, 9]
        assert values[3].ravel().tolist() == [25, 20, 20, 16]  # sums of y where a tap lies inside


def fused(x, filter, paddings, size=None, mode="REFLECT", strides=(1, 1, 1, 1), padding="VALID", align=False):
    same = dict(paddings=paddings, filter=filter, mode=mode, strides=strides, padding=padding)
    if size is None:
        return tf.raw_ops.FusedPadConv2D(input=x, **same)
    return tf.raw_ops.FusedResizeAndPadConv2D(input=x, size=size, resize_align_corners=align, **same)


@pytest.mark.parametrize("mode, wanted", [("REFLECT", [3, 2, 1, 0, 1, 2, 3, 4, 3, 2]),
                                          ("SYMMETRIC", [2, 1, 0, 0, 1, 2, 3, 4, 4, 3])])
def test_mirrored_images_as_tensorflow_has_them(mode, wanted):
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5, 1)
    with tf.Session() as sess:
        y = fused(x, np.ones((1, 1, 1, 1), np.float32), [[0, 0], [0, 0], [3, 2], [0, 0]], mode=mode)
        assert y.shape == (1, 1, 10, 1) and sess.run(y).ravel().tolist() == wanted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size, align", [(None, False), ([7, 6], False), ([7, 6], True)])
def test_fused_padding_is_what_its_parts_do(dtype, size, align):
    rng = np.random.RandomState(0)
    x, f = rng.randn(2, 5, 4, 2).astype(dtype), rng.randn(2, 3, 2, 3).astype(dtype)
    paddings, strides = [[0, 0], [1, 2], [3, 0], [0, 0]], [1, 2, 1, 1]
    resized = x if size is None else tf.cast(tf.image.resize_bilinear(x, size, align_corners=align), dtype)
    for mode in ("REFLECT", "SYMMETRIC"):
        for padding in ("SAME", "VALID"):
            y = fused(x, f, paddings, size, mode, strides, padding, align)
            parts = tf.nn.conv2d(tf.pad(resized, paddings, mode), f, strides, padding)
            assert y.shape == parts.shape
            with tf.Session() as sess:
                np.testing.assert_allclose(*sess.run([y, parts]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("paddings, message", [
    ([[1, 0], [0, 0], [0, 0], [0, 0]], "batch and channels"), ([[0, 0], [5, 0], [0, 0], [0, 0]], "less than"),
    ([[0, 0], [-1, 0], [0, 0], [0, 0]], "non-negative"), ([[0, 0]], "4 x 2")])
def test_bad_fused_paddings(paddings, message):
    given = tf.placeholder(tf.int32)
    y = fused(np.ones((1, 5, 4, 2), np.float32), np.ones((1, 1, 2, 2), np.float32), given)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(y, {given: paddings})
