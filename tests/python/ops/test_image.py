"""Images: sizes, colours, boxes, quality. Expected values are TensorFlow 2.21's or follow from a formula."""
import colorsys

import numpy as np
import pytest

import penstock.v1 as tf

X = (np.arange(24).reshape(1, 4, 3, 2) ** 2 % 17).astype(np.float32)
BOXES = np.array([[0, 0, 1, 1], [.2, .1, .7, 1.2], [.9, .8, .1, .2]], np.float32)
EXPECTED = {
    "bicubic": [0, 1, 1.15069, 6.0005, 6.49851, 9.59218, 13.98184, 8.36852, 17.29558, 7.89203, 4.49731, 17.53571,
                9.82504, 13.90571, 13.06818, 7.57156, 10.76218, 2.05937, 9.81263, -0.41656, 3.53408, 7.82902, 7.14666,
                11.34308, 8.62, 10.25737, 5.80998, 3.19807, 4.61661, 0.13005],
    "bicubic_half": [-0.20845, 2.05952, 1.3942, 5.13286, 5.07046, 9.55505, 12.40734, 8.42883, 16.86809, 7.17012,
                     5.10935, 17.81417, 7.85184, 14.25658, 11.5625, 8, 9.19576, 2.72487, 7.19318, -0.06644, 1.32868,
                     4.68844, 4.44048, 9.16725, 8.95608, 14.53247, 8.036, 6.6495, 6.90376, 0.78451],
    "bicubic_corners": [0, 1, 0.875, 5.09375, 4, 9, 10.375, 9.25, 16, 8, 5.84375, 17.9375, 9.27441, 13.54688,
                        11.84375, 7.75, 10.10938, 3.04492, 7.25, 0.25, 1, 4, 5.09375, 11.3125, 9, 16, 9.25, 10.125, 8,
                        2],
    "area": [0.5, 4.5, 2.41667, 6.33333, 6.25, 10, 12.58333, 7.66667, 15.75, 6.5, 5, 15.5, 7, 13.16667, 11, 8.5, 9,
             3.5, 8, 1, 2.75, 7, 4.83333, 9, 9, 13, 7.16667, 5.33333, 6.25, 1.5],
    "lanczos3": [-0.07348, 13.58001, 6.55887, 11.59536, 6.41949, 6.23504],
    "gaussian": [2.96402, 11.32808, 6.56394, 10.42897, 6.1173, 6.93197],
    "box": [1.33333, 12, 5.66667, 14.33333, 6, 6],
    "mitchellcubic": [1.92865, 11.98965, 6.60332, 10.86557, 6.151, 6.7035],
    "crop": [0, 1, 16, 8, 1, 4, 8, 2, 2.84, 9.8, -1, -1, 7.64, 12.88, -1, -1, 7.14, 5.8, 5.46, 9.52, 12.1, 7.8, 3.04,
             7.2],
    "crop_nearest": [0, 1, 16, 8, 1, 4, 8, 2, 2, 15, -1, -1, 8, 16, -1, -1, 8, 2, 1, 4, 16, 8, 0, 1],
}


def resized(kind, images):
    raw = tf.raw_ops
    if kind.startswith("bicubic"):
        return raw.ResizeBicubic(images=images, size=[3, 5], align_corners=kind.endswith("corners"),
                                 half_pixel_centers=kind.endswith("half"))
    if kind == "area":
        return raw.ResizeArea(images=images, size=[3, 5])
    if kind.startswith("crop"):
        return raw.CropAndResize(image=images, boxes=BOXES, box_ind=[0, 0, 0], crop_size=[2, 2],
                                 method="nearest" if kind.endswith("nearest") else "bilinear",
                                 extrapolation_value=-1.0)
    return raw.ScaleAndTranslate(images=images[..., :1], size=[3, 2], scale=[.7, .8], translation=[.3, -.2],
                                 kernel_type=kind)


@pytest.mark.parametrize("kind", EXPECTED)
def test_resized(kind):
    with tf.Graph().as_default(), tf.Session() as sess:
        np.testing.assert_allclose(sess.run(resized(kind, tf.constant(X))).ravel(), EXPECTED[kind], atol=2e-4)
        whole = X.astype(np.uint8)
        np.testing.assert_allclose(sess.run(resized(kind, tf.constant(whole))).ravel(), EXPECTED[kind], atol=2e-4)


@pytest.mark.parametrize("kind", [k for k in EXPECTED if k != "area"])
def test_gradient_of_resized(kind):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        y = resized(kind, x)
        assert tf.test.compute_gradient_error(x, X.shape, y, y.shape.as_list(), X, delta=0.1) < 5e-3


def test_gradient_of_boxes():
    with tf.Graph().as_default(), tf.Session():
        value = np.array([[0.12, 0.13, 0.83, 0.86], [0.33, 0.21, 0.52, 0.95]], np.float32)
        boxes = tf.constant(value)
        y = tf.image.crop_and_resize(tf.constant(X), boxes, [0, 0], [3, 3])
        assert tf.test.compute_gradient_error(boxes, [2, 4], y, y.shape.as_list(), value, delta=1e-3) < 2e-1


def test_bad_sizes_and_boxes_are_refused():
    with tf.Graph().as_default(), tf.Session() as sess:
        size = tf.placeholder(tf.int32)
        for bad in ([0, 3], [3], [-1, 2]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(tf.raw_ops.ResizeArea(images=X, size=size), {size: bad})
        index = tf.placeholder(tf.int32)
        crops = tf.image.crop_and_resize(X, BOXES, index, [2, 2])
        with pytest.raises(tf.errors.OutOfRangeError, match="outside"):
            sess.run(crops, {index: [0, 1, 0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible"):
            sess.run(crops, {index: [0]})


def test_hsv_there_and_back():
    pixels = np.random.RandomState(0).uniform(size=[20, 3])
    with tf.Graph().as_default(), tf.Session() as sess:
        hsv = tf.image.rgb_to_hsv(tf.constant(pixels))
        expected = [colorsys.rgb_to_hsv(*p) for p in pixels]
        np.testing.assert_allclose(sess.run(hsv), expected, atol=1e-9)
        np.testing.assert_allclose(sess.run(tf.image.hsv_to_rgb(hsv)), pixels, atol=1e-9)
        x = tf.constant(pixels)
        assert tf.test.compute_gradient_error(x, [20, 3], tf.image.rgb_to_hsv(x), [20, 3], pixels, delta=1e-6) < 1e-4


def test_hsv_of_grays_and_primaries():
    pixels = np.array([[0, 0, 0], [1, 1, 1], [.5, .5, .5], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1],
                       [1, 0, 1], [.2, .7, .7], [.7, .2, .7]] * 3, np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        hsv = tf.image.rgb_to_hsv(tf.constant(pixels))
        expected = [colorsys.rgb_to_hsv(*map(float, p)) for p in pixels]
        np.testing.assert_allclose(sess.run(hsv), expected, atol=1e-6)
        np.testing.assert_allclose(sess.run(tf.image.hsv_to_rgb(hsv)), pixels, atol=1e-6)


def test_adjusting():
    image = np.random.RandomState(1).uniform(size=[4, 5, 3]).astype(np.float32)
    mean = image.mean((0, 1))
    hsv = np.array([colorsys.rgb_to_hsv(*p) for p in image.reshape(-1, 3)])
    with tf.Graph().as_default(), tf.Session() as sess:
        np.testing.assert_allclose(sess.run(tf.image.adjust_contrast(image, 2.0)), (image - mean) * 2 + mean,
                                   atol=1e-5)
        turned = [colorsys.hsv_to_rgb((h + 0.3) % 1, s, v) for h, s, v in hsv]
        np.testing.assert_allclose(sess.run(tf.image.adjust_hue(image, 0.3)).reshape(-1, 3), turned, atol=1e-5)
        pale = [colorsys.hsv_to_rgb(h, min(1, s * 1.5), v) for h, s, v in hsv]
        np.testing.assert_allclose(sess.run(tf.image.adjust_saturation(image, 1.5)).reshape(-1, 3), pale, atol=1e-5)
        standard = sess.run(tf.image.per_image_standardization(image))
        assert abs(standard.mean()) < 1e-5 and abs(standard.std() - 1) < 1e-5
        np.testing.assert_allclose(sess.run(tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(image))), image, atol=1e-4)
        np.testing.assert_allclose(sess.run(tf.image.yiq_to_rgb(tf.image.rgb_to_yiq(image))), image, atol=1e-4)
        brighter = tf.image.adjust_brightness(tf.constant([[[250, 3, 9]]], tf.uint8), 10 / 255)
        assert sess.run(brighter).tolist() == [[[255, 13, 19]]]


def test_turning_cropping_padding():
    image = np.arange(24).reshape(3, 4, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        for k in range(5):
            np.testing.assert_array_equal(sess.run(tf.image.rot90(image, k)), np.rot90(image, k))
        np.testing.assert_array_equal(sess.run(tf.image.flip_left_right(image)), image[:, ::-1])
        np.testing.assert_array_equal(sess.run(tf.image.flip_up_down(image[None])), image[None, ::-1])
        np.testing.assert_array_equal(sess.run(tf.image.transpose(image)), image.swapaxes(0, 1))
        np.testing.assert_array_equal(sess.run(tf.image.crop_to_bounding_box(image, 1, 2, 2, 1)), image[1:, 2:3])
        padded = np.pad(image, [[1, 2], [0, 1], [0, 0]])
        np.testing.assert_array_equal(sess.run(tf.image.pad_to_bounding_box(image, 1, 0, 6, 5)), padded)
        both = sess.run(tf.image.resize_image_with_crop_or_pad(image, 5, 2))
        np.testing.assert_array_equal(both, np.pad(image[:, 1:3], [[1, 1], [0, 0], [0, 0]]))
        np.testing.assert_array_equal(sess.run(tf.image.central_crop(np.zeros([8, 8, 1]), 0.5)).shape, [4, 4, 1])
        flipped = sess.run(tf.image.random_flip_left_right(np.stack([image] * 20), seed=1))
        kinds = {bool(np.array_equal(f, image)) for f in flipped}
        assert kinds == {True, False}
        with pytest.raises(ValueError, match="width must be >= target"):
            tf.image.crop_to_bounding_box(image, 0, 3, 1, 2)


def test_resize_images():
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.constant(X[0])
        assert tf.image.resize_images(image, [4, 3]).dtype == tf.float32
        for method in range(4):
            assert sess.run(tf.image.resize_images(image, [2, 6], method)).shape == (2, 6, 2)
        assert sess.run(tf.image.resize_images(image, [8, 9], preserve_aspect_ratio=True)).shape == (8, 6, 2)
        assert sess.run(tf.image.resize_image_with_pad(image, 10, 10)).shape == (10, 10, 2)


def test_quality():
    rng = np.random.RandomState(2)
    a = rng.uniform(size=[1, 24, 20, 2]).astype(np.float32)
    b = np.clip(a + rng.normal(scale=0.1, size=a.shape), 0, 1).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        expected = -10 * np.log10(((a - b) ** 2).mean((1, 2, 3)))
        np.testing.assert_allclose(sess.run(tf.image.psnr(a, b, 1.0)), expected, rtol=1e-4)
        np.testing.assert_allclose(sess.run(tf.image.ssim(tf.constant(a), tf.constant(a), 1.0)), [1.0], atol=1e-6)
        assert 0 < sess.run(tf.image.ssim(tf.constant(a), tf.constant(b), 1.0))[0] < 1
        variation = np.abs(np.diff(a, axis=1)).sum() + np.abs(np.diff(a, axis=2)).sum()
        np.testing.assert_allclose(sess.run(tf.image.total_variation(tf.constant(a))), [variation], rtol=1e-5)
        dy, dx = sess.run(tf.image.image_gradients(tf.constant(a)))
        np.testing.assert_allclose(dy[:, :-1], np.diff(a, axis=1), atol=1e-6)
        assert not dx[:, :, -1].any()
        edges = sess.run(tf.image.sobel_edges(tf.constant(a)))
        assert edges.shape == (1, 24, 20, 2, 2)
        p = np.pad(a, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="reflect")
        rows = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]
        np.testing.assert_allclose(edges[..., 0], rows[:, 2:] - rows[:, :-2], atol=1e-5)


CANDIDATES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                       [0, 100, 1, 101]], np.float32)
SCORES = np.array([.9, .75, .6, .95, .5, .3], np.float32)


def test_suppression():
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.image.non_max_suppression(CANDIDATES, SCORES, 3, 0.5)).tolist() == [3, 0, 5]
        assert sess.run(tf.image.non_max_suppression(CANDIDATES, SCORES, 2, 0.5)).tolist() == [3, 0]
        assert sess.run(tf.image.non_max_suppression(CANDIDATES, SCORES, 6, 0.5, 0.4)).tolist() == [3, 0]
        indices, valid = sess.run(tf.image.non_max_suppression_padded(CANDIDATES, SCORES, 5, 0.5,
                                                                      pad_to_max_output_size=True))
        assert indices.tolist() == [3, 0, 5, 0, 0] and valid == 3
        indices, scores = sess.run(tf.image.non_max_suppression_with_scores(CANDIDATES, SCORES, 6, 1.0, 0.0, 0.5))
        assert indices.tolist() == [3, 0, 1, 5, 4, 2]
        np.testing.assert_allclose(scores, [0.95, 0.9, 0.384, 0.3, 0.256, 0.197], atol=1e-4)
        overlaps = np.eye(3, dtype=np.float32)
        overlaps[0, 1] = overlaps[1, 0] = 0.9
        assert sess.run(tf.image.non_max_suppression_overlaps(overlaps, [.5, .6, .7], 3)).tolist() == [2, 1]
        combined = sess.run(tf.image.combined_non_max_suppression(
            CANDIDATES[None, :, None], np.stack([SCORES, SCORES[::-1]], -1)[None], 2, 5, 0.5, 0.2, clip_boxes=False))
        np.testing.assert_allclose(combined[1], [[.95, .95, .9, .9, 0]])
        np.testing.assert_allclose(combined[0][0], [[0, 10, 1, 11], [0, -.1, 1, .9], [0, 0, 1, 1], [0, 100, 1, 101],
                                                    [0, 0, 0, 0]])
        assert combined[2].tolist() == [[0, 1, 0, 1, 0]] and combined[3].tolist() == [4]
        limit = tf.placeholder(tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
            sess.run(tf.image.non_max_suppression(CANDIDATES, SCORES, limit), {limit: -1})


def test_boxes_by_lot_are_those_of_tensorflow():
    with tf.Graph().as_default(), tf.Session() as sess:
        drawn = tf.raw_ops.SampleDistortedBoundingBoxV2(image_size=[40, 50, 3], bounding_boxes=[[[.1, .2, .7, .8]]],
                                                        min_object_covered=.3, seed=7, seed2=9, area_range=[.1, 1.])
        begin, size, box = sess.run(drawn)
        assert begin.tolist() == [0, 6, 0] and size.tolist() == [40, 42, -1]
        np.testing.assert_allclose(box.ravel(), [0, 0.12, 1, 0.96], atol=1e-6)
        begin, size, _ = sess.run(drawn)
        assert begin.tolist() == [10, 10, 0] and size.tolist() == [28, 34, -1]


def test_glimpses_and_transforms():
    image = np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5, 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        def glimpse(op, offset, **attrs):
            y = op(input=image, size=[3, 2], offsets=[offset], uniform_noise=False, noise="zero", **attrs)
            return sess.run(y)[0, :, :, 0].tolist()

        first, second = tf.raw_ops.ExtractGlimpse, tf.raw_ops.ExtractGlimpseV2
        assert glimpse(first, [.5, .25]) == [[13, 14], [18, 19], [23, 24]]
        assert glimpse(first, [0., 0.], centered=False) == [[0, 0], [0, 1], [0, 6]]
        assert glimpse(second, [.5, .25], normalized=False) == [[18, 19], [23, 24], [0, 0]]
        assert glimpse(second, [.5, .25], centered=False) == [[12, 13], [17, 18], [22, 23]]
        moved = tf.raw_ops.ImageProjectiveTransformV3(
            images=image, transforms=[[1., 0, 1, 0, 1, 2, 0, 0]], output_shape=[3, 4], fill_value=-1.,
            interpolation="BILINEAR")
        assert sess.run(moved)[0, :, :, 0].tolist() == [[12, 13, 14, 15], [17, 18, 19, 20], [22, 23, 24, 25]]
        drawn = sess.run(tf.image.draw_bounding_boxes(np.zeros([1, 5, 5, 3], np.float32), [[[.25, .25, .75, 1.]]]))
        assert drawn[0, :, :, 0].tolist() == [[0] * 5, [0, 1, 1, 1, 1], [0, 1, 0, 0, 1], [0, 1, 1, 1, 1], [0] * 5]


# Version 2


def test_empty_batches_are_images_in_version_two(version_two):
    empty = np.zeros((0, 5, 6, 3), np.float32)
    assert tf.image.flip_left_right(empty).shape == [0, 5, 6, 3]
    assert tf.image.rot90(empty).shape == [0, 6, 5, 3]
    assert tf.image.crop_to_bounding_box(empty, 1, 1, 2, 3).shape == [0, 2, 3, 3]
    assert tf.image.pad_to_bounding_box(empty, 1, 1, 9, 8).shape == [0, 9, 8, 3]
    assert tf.image.resize_image_with_crop_or_pad(empty, 4, 9).shape == [0, 4, 9, 3]
    with pytest.raises(ValueError, match=r"inner 3 dims of 'image.shape' must be > 0: \(1, 0, 6, 3\)"):
        tf.image.flip_up_down(np.zeros((1, 0, 6, 3), np.float32))
    with pytest.raises(ValueError, match=r"'image' \(shape \(5, 3\)\) must have either 3 or 4 dimensions."):
        tf.image.crop_to_bounding_box(np.zeros((5, 3), np.float32), 0, 0, 1, 1)


def test_the_middle_of_images_by_a_tensor(version_two):
    from penstock._src.tf_function import def_function
    image = np.arange(2 * 8 * 12 * 1, dtype=np.float32).reshape(2, 8, 12, 1)
    cropped = def_function.function(tf.image.central_crop)
    for fraction, rows, columns in ((0.5, slice(2, 6), slice(3, 9)), (0.7, slice(1, 7), slice(1, 11)),
                                    (1.0, slice(0, 8), slice(0, 12))):
        for call in (cropped, tf.image.central_crop):
            found = call(tf.constant(image), tf.constant(fraction))
            np.testing.assert_array_equal(found, image[:, rows, columns])
    with pytest.raises(ValueError, match="must be within"):
        tf.image.central_crop(image, tf.constant(1.5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be within"):
        cropped(tf.constant(image), tf.constant(1.5))


def test_images_that_are_compared_may_be_arrays(version_two):
    image = np.random.RandomState(0).rand(2, 16, 16, 3).astype(np.float32)
    np.testing.assert_allclose(tf.image.ssim(image, image, 1.0), [1, 1], rtol=1e-6)
    with pytest.raises(ValueError, match=r"interval \[-1, 1\]"):
        tf.image.adjust_hue(image, 1.1)


def test_areas_of_one_row_or_column_with_aligned_corners():
    with tf.Graph().as_default(), tf.Session() as sess:
        row = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
        y = sess.run(tf.raw_ops.ResizeArea(images=row, size=[2, 3], align_corners=True))
        np.testing.assert_allclose(y.ravel(), [1 / 3, 5 / 3, 3] * 2, rtol=1e-6)
        y = sess.run(tf.raw_ops.ResizeArea(images=row.reshape(1, 4, 1, 1), size=[3, 2], align_corners=True))
        np.testing.assert_allclose(y.ravel(), np.repeat([1 / 3, 5 / 3, 3], 2), rtol=1e-6)
