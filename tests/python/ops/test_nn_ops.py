"""Convolutions, pools, normalisation and losses against their definitions in NumPy; gradients against differences."""
import itertools

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

RNG = np.random.default_rng(0)


def randn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def pads(size, reach, stride, padding):
    """(output size, padding before) along one dimension."""
    if padding == "VALID":
        return (size - reach) // stride + 1, 0
    out = -(-size // stride)
    return out, max(0, (out - 1) * stride + reach - size) // 2


def windows(x, kernel, stride, padding, dilation=1, fill=0.0):
    """[batch, out height, out width, kernel height, kernel width, channels]; what lies outside is `fill`."""
    n, h, w, c = x.shape
    (oh, ph), (ow, pw) = [pads(s, (k - 1) * dilation + 1, stride, padding) for s, k in zip((h, w), kernel)]
    out = np.full((n, oh, ow, *kernel, c), fill, np.float64)
    for i, j, a, b in itertools.product(range(oh), range(ow), range(kernel[0]), range(kernel[1])):
        y, z = i * stride - ph + a * dilation, j * stride - pw + b * dilation
        if 0 <= y < h and 0 <= z < w:
            out[:, i, j, a, b] = x[:, y, z]
    return out


def conv(x, f, stride, padding, dilation=1):
    groups = x.shape[3] // f.shape[2]
    parts = [np.einsum("nijabc,abco->nijo", windows(p, f.shape[:2], stride, padding, dilation), q)
             for p, q in zip(np.split(x, groups, 3), np.split(f, groups, 3))]
    return np.concatenate(parts, 3)


CONVS = [(7, 3, 3, 4, 3, 1, "SAME", 1), (8, 4, 4, 2, 2, 2, "SAME", 1), (9, 3, 3, 5, 3, 2, "VALID", 1),
         (9, 2, 2, 3, 3, 1, "VALID", 2), (6, 8, 8, 4, 1, 1, "SAME", 1), (7, 6, 2, 9, 3, 1, "SAME", 1),
         (16, 16, 16, 24, 3, 1, "SAME", 1), (5, 16, 16, 32, 1, 2, "SAME", 1)]


@pytest.mark.parametrize("case", CONVS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_conv2d(case, dtype):
    size, channels, depth, count, kernel, stride, padding, dilation = case
    x, f = randn(2, size, size + 1, channels), randn(kernel, kernel, depth, count)
    value = run(lambda: tf.cast(tf.nn.conv2d(tf.constant(x.astype(dtype)), tf.constant(f.astype(dtype)), strides=stride,
                                             padding=padding, dilations=dilation), tf.float32))
    wanted = conv(x, f, stride, padding, dilation)
    tolerance = 2e-2 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=tolerance * abs(wanted).max())


@pytest.mark.parametrize("case", CONVS)
def test_conv2d_gradients(case):
    """Both gradients are linear maps: <dy, conv(x)> must equal <dx, x> and <df, f>."""
    size, channels, depth, count, kernel, stride, padding, dilation = case
    x, f = randn(3, size, size + 1, channels), randn(kernel, kernel, depth, count)
    wanted = conv(x, f, stride, padding, dilation)
    dy = randn(*wanted.shape)

    def build():
        cx, cf = tf.constant(x), tf.constant(f)
        y = tf.nn.conv2d(cx, cf, strides=stride, padding=padding, dilations=dilation)
        return tf.gradients(y, [cx, cf], tf.constant(dy))

    dx, df = run(build)
    np.testing.assert_allclose([(dx * x).sum(), (df * f).sum()], [(dy * wanted).sum()] * 2, rtol=1e-3, atol=1e-3)
    other = randn(*x.shape)
    wanted = (dy * conv(other, f, stride, padding, dilation)).sum()
    np.testing.assert_allclose((dx * other).sum(), wanted, rtol=1e-3, atol=1e-2)
    other = randn(*f.shape)
    wanted = (dy * conv(x, other, stride, padding, dilation)).sum()
    np.testing.assert_allclose((df * other).sum(), wanted, rtol=1e-3, atol=1e-2)


def test_channels_first_is_the_same_convolution():
    x, f = randn(2, 8, 9, 3), randn(3, 3, 3, 4)

    def build():
        last = tf.nn.conv2d(tf.constant(x), tf.constant(f), strides=[1, 2, 1, 1], padding="SAME")
        first = tf.nn.conv2d(tf.constant(x.transpose(0, 3, 1, 2)), tf.constant(f), strides=[1, 1, 2, 1], padding="SAME",
                             data_format="NCHW")
        return last, first

    last, first = run(build)
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last, rtol=1e-5, atol=1e-5)


def test_depthwise_conv():
    x, f = randn(2, 7, 6, 3), randn(3, 3, 3, 2)
    value = run(lambda: tf.nn.depthwise_conv2d(tf.constant(x), tf.constant(f), [1, 2, 2, 1], "SAME"))
    wanted = np.einsum("nijabc,abcm->nijcm", windows(x, (3, 3), 2, "SAME"), f).reshape(2, 4, 3, 6)
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("kernel, stride", [((2, 2), 2), ((3, 2), 1), ((2, 3), 2)])
def test_pools(kernel, stride, padding):
    x = randn(2, 8, 7, 5)
    size, strides = [1, *kernel, 1], [1, stride, stride, 1]
    largest = windows(x, kernel, stride, padding, fill=-np.inf)
    inside = windows(np.ones_like(x), kernel, stride, padding)

    def build():
        c = tf.constant(x)
        most, mean = tf.nn.max_pool(c, size, strides, padding), tf.nn.avg_pool(c, size, strides, padding)
        return most, mean, tf.gradients(most, c)[0], tf.gradients(mean, c)[0]

    most, mean, most_grad, mean_grad = run(build)
    np.testing.assert_allclose(most, largest.max((3, 4)))
    wanted = windows(x, kernel, stride, padding).sum((3, 4)) / inside.sum((3, 4))
    np.testing.assert_allclose(mean, wanted, rtol=1e-5, atol=1e-6)
    # Every window gives a gradient of 1 away: to its largest element, or in equal parts.
    np.testing.assert_allclose([most_grad.sum(), mean_grad.sum()], [most.size] * 2, rtol=1e-5)
    np.testing.assert_allclose((most_grad * x).sum(), most.sum(), rtol=1e-4)
    np.testing.assert_allclose((mean_grad * x).sum(), mean.sum(), rtol=1e-3, atol=1e-3)


def test_max_pool_with_argmax_names_the_elements():
    x = randn(2, 6, 5, 3)
    y, where = run(lambda: tf.nn.max_pool_with_argmax(tf.constant(x), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"))
    np.testing.assert_array_equal(np.stack([image.ravel()[i] for image, i in zip(x, where)]), y)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_batch_norm(data_format):
    x, scale, offset = randn(4, 5, 6, 3) * 2 + 7, randn(3), randn(3)
    turned = x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
    y, mean, variance = run(lambda: tf.nn.fused_batch_norm(turned, scale, offset, data_format=data_format,
                                                           epsilon=0.01))
    y = y if data_format == "NHWC" else y.transpose(0, 2, 3, 1)
    wide = x.astype(np.float64)
    m, v = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
    np.testing.assert_allclose(mean, m, rtol=1e-5)
    np.testing.assert_allclose(variance, v * 120 / 119, rtol=1e-5)
    np.testing.assert_allclose(y, (wide - m) / np.sqrt(v + 0.01) * scale + offset, rtol=1e-4, atol=1e-5)
    y = run(lambda: tf.nn.fused_batch_norm(x, scale, offset, mean=m.astype("f"), variance=v.astype("f"), epsilon=0.01,
                                           is_training=False)[0])
    np.testing.assert_allclose(y, (wide - m) / np.sqrt(v + 0.01) * scale + offset, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_gradients(training):
    x, scale, offset, dy, gx = randn(3, 2, 4, 5), randn(5), randn(5), randn(3, 2, 4, 5), randn(3, 2, 4, 5)
    running = dict(mean=randn(5), variance=randn(5) ** 2 + 1)

    def build(x, dy):
        x, dy = tf.constant(x), tf.constant(dy)
        s, o = tf.constant(scale), tf.constant(offset)
        y = tf.nn.fused_batch_norm(x, s, o, is_training=training, epsilon=0.1, **({} if training else running))[0]
        grads = tf.gradients(y, [x, s, o], dy)
        total = tf.reduce_sum(grads[0] * gx) + tf.reduce_sum(grads[1] * 0.3)
        return [tf.reduce_sum(y * dy), total, *grads, *tf.gradients(total, [x, dy])]

    value, total, dx, _, doffset, ddx, ddy = run(lambda: build(x, dy))
    np.testing.assert_allclose(doffset, dy.sum((0, 1, 2)), rtol=1e-4, atol=1e-5)
    step, way = 1e-2, randn(*x.shape)
    up, down = run(lambda: build(x + step * way, dy)), run(lambda: build(x - step * way, dy))
    np.testing.assert_allclose((up[0] - down[0]) / (2 * step), (dx * way).sum(), rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose((up[1] - down[1]) / (2 * step), (ddx * way).sum(), rtol=2e-2, atol=3e-2)
    np.testing.assert_allclose((ddy * dy).sum(), total, rtol=1e-3, atol=1e-3)  # linear in dy


def test_batch_norm_gradients_with_given_statistics_do_not_read_the_image():
    inf, nan = np.inf, np.nan
    given = dict(x=np.float32([1, 2, inf, -inf, nan, 0, 3]).reshape(1, 1, 7, 1), scale=[2.0], reserve_space_1=[0.5],
                 reserve_space_2=[3.0], reserve_space_3=[0.0], is_training=False)
    dy = np.float32([1, inf, -inf, nan, 0, 2, -0.0]).reshape(1, 1, 7, 1)
    dx = run(lambda: tf.raw_ops.FusedBatchNormGradV3(y_backprop=dy, **given)[0]).ravel()
    np.testing.assert_array_equal(dx, np.float32([1.1546813, inf, -inf, nan, 0, 2.3093626, 0]))
    assert np.signbit(dx[6])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("classes", [3, 60])
def test_cross_entropy_multiplies_labels_of_zero_too(dtype, classes):
    inf, nan = np.inf, np.nan
    logits = np.zeros((4, classes), dtype)
    labels = np.zeros((4, classes), dtype)
    logits[:, :3] = [[1, 2, nan], [1, 2, -inf], [1, 2, -inf], [1, 2, 3]]
    labels[:, :3] = [[0, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 0]]
    loss = run(lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))
    np.testing.assert_array_equal(loss, [nan, nan, inf, 0])


@pytest.mark.parametrize("rows, classes", [(5, 1001), (131, 2), (70, 48), (3, 49)])
def test_softmax_and_losses(rows, classes):
    x, labels = randn(rows, classes) * 4, np.arange(rows) * 7 % classes
    p = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    onehot = np.eye(classes, dtype=np.float32)[labels]

    def build():
        c = tf.constant(x)
        sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=c)
        dense = tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.constant(onehot), logits=c)
        return (tf.nn.softmax(c), tf.nn.log_softmax(c), sparse, dense, tf.gradients(sparse, c)[0],
                tf.gradients(dense, c)[0], tf.nn.l2_loss(c), tf.nn.in_top_k(c, labels, classes // 3))

    values = run(build)
    loss = -np.log(p[np.arange(rows), labels])
    rank = (x > x[np.arange(rows), labels][:, None]).sum(1)
    wanted = (p, np.log(p), loss, loss, p - onehot, p - onehot, (x.astype(np.float64) ** 2).sum() / 2,
              rank < classes // 3)
    for value, expected in zip(values, wanted):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_softmax_of_extremes():
    x = np.array([[1e4, 0, -1e4], [-np.inf, 0, 0], [-3e38, -3e38, -3e38]], np.float32)
    value = run(lambda: tf.nn.softmax(tf.constant(x)))
    np.testing.assert_allclose(value, [[1, 0, 0], [0, 0.5, 0.5], [1 / 3] * 3], rtol=1e-6)


def test_activations():
    x = np.array([-np.inf, -3, -0.0, 0, 2, 7, np.inf, np.nan] * 9, np.float32)
    relu, relu6, elu, leaky = run(lambda: [tf.nn.relu(x), tf.nn.relu6(x), tf.nn.elu(x), tf.nn.leaky_relu(x, 0.25)])
    np.testing.assert_array_equal(relu, np.maximum(x, 0))
    np.testing.assert_array_equal(relu6, np.clip(x, 0, 6))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(elu, np.where(x < 0, np.expm1(x), x), rtol=1e-6)
    np.testing.assert_array_equal(leaky, np.where(x > 0, x, x * 0.25))


@pytest.mark.parametrize("build, message", [
    (lambda: tf.nn.conv2d(randn(1, 2, 2, 3), randn(3, 3, 3, 2), strides=1, padding="VALID"), "Negative dimension size"),
    (lambda: tf.nn.conv2d(randn(1, 5, 5, 3), randn(3, 3, 2, 2), strides=1, padding="VALID"), "not a multiple"),
    (lambda: tf.nn.max_pool(randn(1, 2, 2, 3), 3, 1, "VALID"), "Negative dimension size"),
    (lambda: tf.nn.bias_add(randn(2, 3), randn(4)), "must be equal"),
    (lambda: tf.nn.softmax(tf.constant(1.0)), "must be at least rank 1|dimension")])
def test_wrong_shapes_are_refused(build, message):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        run(build)


def test_a_label_out_of_range_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"label value of 3 .* \[0, 3\)"):
        run(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[3], logits=randn(1, 3)))


def bilinear(x, size, centers):
    """At each new place, the mean of the four pixels around it by distance."""
    def matrix(old, new):
        places = (np.arange(new) + 0.5) * old / new - 0.5 if centers else np.arange(new) * old / new
        weights = np.maximum(0, 1 - abs(np.clip(places, 0, old - 1)[:, None] - np.arange(old)))
        return weights / weights.sum(1, keepdims=True)
    return np.einsum("yh,xw,nhwc->nyxc", matrix(x.shape[1], size[0]), matrix(x.shape[2], size[1]), x)


@pytest.mark.parametrize("size", [(9, 11), (3, 4), (5, 6)])
@pytest.mark.parametrize("centers", [False, True])
def test_resize_bilinear(size, centers):
    x, dy = randn(2, 5, 6, 3), randn(2, *size, 3)

    def build():
        c = tf.constant(x)
        y = tf.raw_ops.ResizeBilinear(images=c, size=size, half_pixel_centers=centers)
        return y, tf.gradients(y, c, tf.constant(dy))[0]

    y, dx = run(build)
    np.testing.assert_allclose(y, bilinear(x, size, centers), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose((dx * x).sum(), (dy * y).sum(), rtol=1e-4, atol=1e-4)


def test_resize_nearest_neighbor_repeats_pixels():
    x = randn(1, 2, 3, 2)

    def build():
        c = tf.constant(x)
        y = tf.raw_ops.ResizeNearestNeighbor(images=c, size=[4, 9])
        return y, tf.gradients(y, c)[0]

    y, dx = run(build)
    np.testing.assert_array_equal(y, x.repeat(2, 1).repeat(3, 2))
    np.testing.assert_array_equal(dx, np.full_like(x, 6))


@pytest.mark.parametrize("radius, beta", [(2, 0.6), (2, 0.5), (0, 1.0), (30, 0.75)])
def test_local_response_normalization(radius, beta):
    x = randn(2, 3, 2, 7)
    near = abs(np.arange(7)[:, None] - np.arange(7)) <= radius

    def formula(x):
        return x / (1.5 + 0.7 * (x.astype(np.float64) ** 2) @ near) ** beta

    def build():
        c = tf.constant(x)
        y = tf.nn.local_response_normalization(c, depth_radius=radius, bias=1.5, alpha=0.7, beta=beta)
        return y, tf.gradients(y, c)[0]

    y, dx = run(build)
    np.testing.assert_allclose(y, formula(x), rtol=1e-5)
    way, step = randn(*x.shape).astype(np.float64), 1e-5
    slope = (formula(x + step * way).sum() - formula(x - step * way).sum()) / (2 * step)
    np.testing.assert_allclose((dx * way).sum(), slope, rtol=1e-3)


@pytest.mark.parametrize("size, stride, padding", [(2, 2, "VALID"), (3, 2, "SAME"), (3, 1, "VALID")])
def test_the_gradient_of_max_pooling_goes_to_the_first_largest(size, stride, padding):
    """40 channels: whole vectors of them, and some more."""
    rng = np.random.default_rng(1)
    x_value = rng.integers(0, 4, (2, 9, 8, 40)).astype(np.float32)  # many are equal
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(x_value)
        y = tf.nn.max_pool(x, [1, size, size, 1], [1, stride, stride, 1], padding)
        dy_value = rng.standard_normal(y.shape).astype(np.float32)
        got = sess.run(tf.gradients(y, x, tf.constant(dy_value))[0])
    wanted = np.zeros_like(x_value)
    pads = [max((o - 1) * stride + size - i, 0) // 2 for o, i in zip(dy_value.shape[1:3], x_value.shape[1:3])]
    for b, i, j, c in np.ndindex(*dy_value.shape):
        window = [(r, s) for r in range(i * stride - pads[0], i * stride - pads[0] + size) if 0 <= r < 9
                  for s in range(j * stride - pads[1], j * stride - pads[1] + size) if 0 <= s < 8]
        r, s = max(window, key=lambda at: x_value[b, at[0], at[1], c])
        wanted[b, r, s, c] += dy_value[b, i, j, c]
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_pools_that_are_not_supported_say_so():
    x = np.ones((1, 2, 2, 3), np.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="exactly one of pooling across depth"):
        run(lambda: tf.nn.max_pool(x, [1, 2, 1, 2], [1, 1, 1, 1], "SAME"))
    with pytest.raises(tf.errors.UnimplementedError, match="not yet supported on the batch"):  # before it is fed
        run(lambda: tf.nn.avg_pool(tf.placeholder(tf.float32), [1, 1, 1, 1], [2, 1, 1, 1], "SAME"))


@pytest.mark.parametrize("size", [(5, 5), (2**31 - 1, 1), (1, 2**31 - 1), (2**31 - 1, 2**31 - 1)])
def test_pools_over_more_than_the_image_end(size):
    x = np.arange(12, dtype="f").reshape(1, 3, 4, 1) % 5
    rows, columns = (slice(None) if side > 1 else None for side in size)
    with tf.Session() as session:
        how = dict(ksize=[1, *size, 1], strides=[1, 1, 1, 1], padding="SAME")
        largest, mean = session.run([tf.raw_ops.MaxPool(input=x, **how), tf.raw_ops.AvgPool(value=x, **how)])
        by_index = session.run(tf.raw_ops.MaxPoolWithArgmax(input=x, **how))
        spread = session.run(tf.raw_ops.AvgPoolGrad(orig_input_shape=x.shape, grad=x, **how))
    axes = tuple(axis for axis, side in ((1, rows), (2, columns)) if side is not None)
    if size != (5, 5):
        np.testing.assert_array_equal(largest, np.broadcast_to(x.max(axes, keepdims=True), x.shape))
        np.testing.assert_allclose(mean, np.broadcast_to(x.mean(axes, keepdims=True), x.shape), rtol=1e-6)
        np.testing.assert_allclose(spread, np.broadcast_to(x.mean(axes, keepdims=True), x.shape), rtol=1e-6)
    for i in range(3):
        for j in range(4):
            near = x[0, max(i - size[0] // 2, 0):i + size[0] // 2 + 1, max(j - size[1] // 2, 0):j + size[1] // 2 + 1, 0]
            assert largest[0, i, j, 0] == near.max()
    np.testing.assert_array_equal(by_index[0], largest)
    np.testing.assert_array_equal(x.reshape(-1)[by_index[1]], largest)


@pytest.mark.parametrize("with_batch", [False, True])
def test_places_of_the_largest_channels(with_batch):
    x = np.random.RandomState(1).permutation(24).reshape(2, 1, 3, 4).astype("f")
    with tf.Session() as session:
        y, places = session.run(tf.raw_ops.MaxPoolWithArgmax(
            input=x, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID", include_batch_in_index=with_batch))
    np.testing.assert_array_equal(y, x.reshape(2, 1, 3, 2, 2).max(-1))
    flat = x.reshape(-1) if with_batch else x.reshape(2, -1)
    np.testing.assert_array_equal(flat[places] if with_batch else [f[p] for f, p in zip(flat, places)], y)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("largest", [True, False])
def test_approximate_choice_is_exact(axis, largest):
    x = np.random.RandomState(2).permutation(60).reshape(3, 4, 5).astype("f")
    x_in = tf.placeholder(tf.float32, None)
    values, indices = tf.raw_ops.ApproxTopK(input=x_in, k=2, reduction_dimension=axis, is_max_k=largest)
    weights = np.arange(np.prod(x.shape) // x.shape[axis] * 2, dtype="f").reshape(
        [2 if i == axis % 3 else d for i, d in enumerate(x.shape)])
    gradient = tf.gradients(values, x_in, weights)[0]
    with tf.Session() as session:
        values, indices, gradient = session.run([values, indices, gradient], {x_in: x})
    order = np.argsort(-x if largest else x, axis).take([0, 1], axis)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))
    expected = np.zeros_like(x)
    np.put_along_axis(expected, order, weights, axis)
    np.testing.assert_array_equal(gradient, expected)


def test_attributes_out_of_bounds():
    """Eager ops refuse them as the runtime does, graphs as Python does."""
    x, boxes = np.ones((1, 2, 2, 1), "f"), np.ones((1, 2, 2, 2, 1), "f")
    for build, eager, graph in (
            (lambda: tf.raw_ops.SpaceToDepth(input=x, block_size=0),
             "Value for attr 'block_size' of 0 must be at least minimum 2",
             "Attr 'block_size' of 'SpaceToDepth' Op passed 0 less than minimum 2."),
            (lambda: tf.raw_ops.MaxPool3D(input=boxes, ksize=[], strides=[1] * 5, padding="SAME"), "Length for attr "
             "'ksize' of 0 must be at least minimum 5", "passed list of length 0 less than minimum 5"),
            (lambda: tf.raw_ops.MaxPool(input=x, ksize=[1] * 4, strides=[1] * 4, padding="zz"), "Value for attr "
             "'padding' of \"zz\" is not in the list of allowed values: \"SAME\"", "passed string 'zz' not")):
        with context.eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match=eager):
            build()
        with tf.Graph().as_default(), pytest.raises(ValueError, match=graph):
            build()
