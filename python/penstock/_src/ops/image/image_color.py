"""Colours of images: types, brightness, contrast, hue, saturation, and other colour spaces."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.image import image_checks as checks
from penstock._src.ops.random.stateless_random_ops import stateless_random_uniform
from penstock._src.base import tf_logging as logging

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_jpeg_quality_v1", "adjust_saturation", "convert_image_dtype", "grayscale_to_rgb",
    "per_image_standardization", "per_image_standardization_v2", "random_brightness", "random_contrast", "random_hue",
    "random_jpeg_quality", "random_saturation", "rgb_to_grayscale", "rgb_to_yiq", "rgb_to_yuv",
    "stateless_random_brightness", "stateless_random_contrast", "stateless_random_hue",
    "stateless_random_jpeg_quality", "stateless_random_saturation", "yiq_to_rgb", "yuv_to_rgb",
]


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Images as another type; integers reach to their greatest value, floating-point numbers to 1."""
    image = ops.convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    cast = math_ops.saturate_cast if saturate else math_ops.cast
    with ops.name_scope(name, "convert_image", [image]) as name:
        source = image.dtype
        if source.is_integer and dtype.is_integer:
            if source.max > dtype.max:
                scale = (source.max + 1) // (dtype.max + 1)
                return cast(math_ops.div(image, scale), dtype, name=name)
            scale = (dtype.max + 1) // (source.max + 1)
            return math_ops.multiply(cast(image, dtype), scale, name=name)
        if source.is_floating and dtype.is_floating:
            logging.warning("The operation `tf.image.convert_image_dtype` will not automatically renormalize input "
                            "data since input and output dtypes are both floating point formats.")
            return math_ops.cast(image, dtype, name=name)
        if source.is_integer:
            return math_ops.multiply(math_ops.cast(image, dtype), 1.0 / source.max, name=name)
        return cast(math_ops.multiply(image, dtype.max + 0.5), dtype, name=name)


def _as_float(image):
    if image.dtype in (dtypes.float16, dtypes.float32):
        return image
    return convert_image_dtype(image, dtypes.float32)


def per_image_standardization(image):
    """Each image less its mean and over its deviation, which counts as at least 1 / sqrt(number of values)."""
    if tf2.enabled():
        return per_image_standardization_v2(image)
    return _standardized(image, lambda image: (_as_float(image), image.dtype))


def per_image_standardization_v2(image):
    """per_image_standardization; the result is float32, and integers count as they are."""
    return _standardized(image, lambda image: (math_ops.cast(image, dtypes.float32), dtypes.float32))


def _standardized(image, as_float):
    """as_float: makes of an image (what is standardized, the type of the result)."""
    with ops.name_scope(None, "per_image_standardization", [image]) as scope:
        image = checks.assert_at_least_3d(ops.convert_to_tensor(image, name="image"))
        image, dtype = as_float(image)
        count = math_ops.reduce_prod(array_ops.shape(image)[-3:])
        mean = math_ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = math_ops.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = gen.rsqrt(math_ops.cast(count, image.dtype))
        deviation = gen.maximum(deviation, least)
        image -= mean
        image = math_ops.div(image, deviation, name=scope)
        return convert_image_dtype(image, dtype, saturate=True)


# Adjusting


def adjust_brightness(image, delta):
    """delta added to images that reach from 0 to 1."""
    with ops.name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = ops.convert_to_tensor(image, name="image")
        dtype = image.dtype
        image = _as_float(image)
        adjusted = math_ops.add(image, math_ops.cast(delta, image.dtype), name=name)
        return convert_image_dtype(adjusted, dtype, saturate=True)


def adjust_contrast(images, contrast_factor):
    """Each channel of each image moved away from its mean by a factor."""
    with ops.name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = ops.convert_to_tensor(images, name="images")
        adjusted = gen.adjust_contrastv2(_as_float(images), contrast_factor=contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""
    with ops.name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = ops.convert_to_tensor(image, name="image")
        dtype = image.dtype
        image = _as_float(image)
        assertions = checks.check(gamma >= 0, "Gamma should be a non-negative real number.")
        if assertions:
            gamma = control_flow_ops.with_dependencies(assertions, gamma)
        return convert_image_dtype(gain * image ** gamma, dtype, saturate=True)


def adjust_hue(image, delta, name=None):
    """The hue of each pixel turned by delta of the whole circle."""
    with ops.name_scope(name, "adjust_hue", [image]):
        image = ops.convert_to_tensor(image, name="image")
        if tf2.enabled() and ops.executing_eagerly() and not -1 <= delta <= 1:
            raise ValueError("delta must be in the interval [-1, 1]")
        return convert_image_dtype(gen.adjust_hue(_as_float(image), delta), image.dtype)


def adjust_saturation(image, saturation_factor, name=None):
    """The saturation of each pixel multiplied."""
    with ops.name_scope(name, "adjust_saturation", [image]):
        image = ops.convert_to_tensor(image, name="image")
        return convert_image_dtype(gen.adjust_saturation(_as_float(image), saturation_factor), image.dtype)


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image as it comes back from JPEG of this quality."""
    with ops.name_scope(name, "adjust_jpeg_quality", [image]):
        image = ops.convert_to_tensor(image, name="image")
        dtype = image.dtype
        image = convert_image_dtype(image, dtypes.uint8)
        if not checks.is_tensor(jpeg_quality):
            jpeg_quality = ops.convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        image = gen.encode_jpeg_variable_quality(image, jpeg_quality)
        return convert_image_dtype(gen.decode_jpeg(image, dct_method=dct_method), dtype)


def adjust_jpeg_quality_v1(image, jpeg_quality, name=None):
    """The image as it comes back from JPEG of this quality."""
    return adjust_jpeg_quality(image, jpeg_quality, name=name)


# Adjusting at random


def _bounds(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def _largest_delta(max_delta, limit=float("inf")):
    if max_delta > limit:
        raise ValueError(f"max_delta must be <= {limit}.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")


def random_brightness(image, max_delta, seed=None):
    """Brightness changed by at most max_delta."""
    _largest_delta(max_delta)
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def stateless_random_brightness(image, max_delta, seed):
    """`random_brightness` by a seed of two numbers."""
    _largest_delta(max_delta)
    return adjust_brightness(image, stateless_random_uniform([], seed, -max_delta, max_delta))


def random_contrast(image, lower, upper, seed=None):
    """Contrast changed by a factor between lower and upper."""
    _bounds(lower, upper)
    return adjust_contrast(image, random_ops.random_uniform([], lower, upper, seed=seed))


def stateless_random_contrast(image, lower, upper, seed):
    """`random_contrast` by a seed of two numbers."""
    _bounds(lower, upper)
    return adjust_contrast(image, stateless_random_uniform([], seed, lower, upper))


def random_hue(image, max_delta, seed=None):
    """Hue turned by at most max_delta."""
    _largest_delta(max_delta, 0.5)
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def stateless_random_hue(image, max_delta, seed):
    """`random_hue` by a seed of two numbers."""
    _largest_delta(max_delta, 0.5)
    return adjust_hue(image, stateless_random_uniform([], seed, -max_delta, max_delta))


def random_saturation(image, lower, upper, seed=None):
    """Saturation changed by a factor between lower and upper."""
    _bounds(lower, upper)
    return adjust_saturation(image, random_ops.random_uniform([], lower, upper, seed=seed))


def stateless_random_saturation(image, lower, upper, seed=None):
    """`random_saturation` by a seed of two numbers."""
    _bounds(lower, upper)
    return adjust_saturation(image, stateless_random_uniform([], seed, lower, upper))


def _qualities(min_jpeg_quality, max_jpeg_quality):
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """The image as it comes back from JPEG of a random quality."""
    _qualities(min_jpeg_quality, max_jpeg_quality)
    quality = random_ops.random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """`random_jpeg_quality` by a seed of two numbers."""
    _qualities(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_random_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


# Colour spaces


def rgb_to_grayscale(images, name=None):
    """Brightness as the eye sees it, in one channel."""
    with ops.name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = ops.convert_to_tensor(images, name="images")
        plain = convert_image_dtype(images, dtypes.float32)
        gray = math_ops.tensordot(plain, [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(gray, -1), images.dtype, name=name)


def grayscale_to_rgb(images, name=None):
    """One channel as three."""
    with ops.name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = checks.assert_grayscale(ops.convert_to_tensor(images, name="images"))
        rank = array_ops.expand_dims(array_ops.rank(images) - 1, 0)
        multiples = array_ops.concat([array_ops.ones(rank, dtype=dtypes.int32), array_ops.expand_dims(3, 0)], 0)
        rgb = gen.tile(images, multiples, name=name)
        rgb.set_shape(images.get_shape()[:-1].concatenate([3]))
        return rgb


RGB_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
YIQ_TO_RGB = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
RGB_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
YUV_TO_RGB = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _by_matrix(images, matrix):
    images = ops.convert_to_tensor(images, name="images")
    kernel = ops.convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    rank = images.get_shape().ndims
    return math_ops.tensordot(images, kernel, axes=[[rank - 1], [0]])


def rgb_to_yiq(images):
    """Colours (floats, in the last dimension) as luma and two chrominances, NTSC's."""
    return _by_matrix(images, RGB_TO_YIQ)


def yiq_to_rgb(images):
    """The inverse of `rgb_to_yiq`."""
    return _by_matrix(images, YIQ_TO_RGB)


def rgb_to_yuv(images):
    """Colours (floats, in the last dimension) as luma and two chrominances, PAL's."""
    return _by_matrix(images, RGB_TO_YUV)


def yuv_to_rgb(images):
    """The inverse of `rgb_to_yuv`."""
    return _by_matrix(images, YUV_TO_RGB)
