"""Images turned, cropped, padded and brought to another size."""
import functools

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import cond, control_flow_ops
from penstock._src.ops.random import random_ops, stateless_random_ops
from penstock._src.ops.image import image_checks as checks

__all__ = [
    "ResizeMethod", "ResizeMethodV1", "central_crop", "crop_to_bounding_box", "flip_left_right", "flip_up_down",
    "pad_to_bounding_box", "random_flip_left_right", "random_flip_up_down", "resize_bicubic", "resize_bilinear",
    "resize_image_with_crop_or_pad", "resize_image_with_pad", "resize_image_with_pad_v1", "resize_image_with_pad_v2",
    "resize_images", "resize_images_v2", "resize_nearest_neighbor", "rot90", "stateless_random_flip_left_right",
    "stateless_random_flip_up_down", "transpose", "transpose_image",
]


# Turning


def _with_flip_shape(image, result):
    """A flipped image has the shape that it had; three dimensions if nothing is known."""
    shape = image.get_shape()
    result.set_shape([None, None, None] if shape.ndims is None else shape)
    return result


def _by_rank(image, of_image, of_batch):
    """What is done to an image, or to a batch of them. An unknown rank is taken for an image's in version 1, and looked
    at when the step runs in version 2."""
    rank = image.get_shape().ndims
    if rank not in (None, 3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    if rank is None and tf2.enabled():
        return cond.cond(math_ops.equal(array_ops.rank(image), 3), of_image, of_batch)
    return of_batch() if rank == 4 else of_image()


def _random_flip(image, axis, random_uniform, scope_name):
    with ops.name_scope(None, scope_name, [image]) as scope:
        image = checks.assert_at_least_3d(ops.convert_to_tensor(image, name="image"))

        def of_image():
            number = random_uniform([])
            result = cond.cond(gen.less(number, 0.5), lambda: array_ops.reverse(image, [axis]), lambda: image,
                               name=scope)
            return _with_flip_shape(image, result)

        def of_batch():
            batch = array_ops.shape(image)[0]
            numbers = random_uniform([batch])
            flips = math_ops.round(array_ops.reshape(numbers, [batch, 1, 1, 1]))
            flips = math_ops.cast(flips, image.dtype)
            flipped = array_ops.reverse(image, [axis + 1])
            return flips * flipped + (1 - flips) * image

        return _by_rank(image, of_image, of_batch)


def random_flip_up_down(image, seed=None):
    """Images upside down, each with a chance of one half."""
    return _random_flip(image, 0, functools.partial(random_ops.random_uniform, seed=seed), "random_flip_up_down")


def random_flip_left_right(image, seed=None):
    """Images mirrored, each with a chance of one half."""
    return _random_flip(image, 1, functools.partial(random_ops.random_uniform, seed=seed), "random_flip_left_right")


def stateless_random_flip_up_down(image, seed):
    """`random_flip_up_down` by a seed of two numbers."""
    draw = functools.partial(stateless_random_ops.stateless_random_uniform, seed=seed)
    return _random_flip(image, 0, draw, "stateless_random_flip_up_down")


def stateless_random_flip_left_right(image, seed):
    """`random_flip_left_right` by a seed of two numbers."""
    draw = functools.partial(stateless_random_ops.stateless_random_uniform, seed=seed)
    return _random_flip(image, 1, draw, "stateless_random_flip_left_right")


def _flip(image, axis, scope_name):
    with ops.name_scope(None, scope_name, [image]):
        image = checks.assert_at_least_3d(ops.convert_to_tensor(image, name="image"))
        return _by_rank(image, lambda: _with_flip_shape(image, array_ops.reverse(image, [axis])),
                        lambda: array_ops.reverse(image, [axis + 1]))


def flip_left_right(image):
    """Images mirrored."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """Images upside down."""
    return _flip(image, 0, "flip_up_down")


def rot90(image, k=1, name=None):
    """Images turned counter-clockwise by k quarters."""
    with ops.name_scope(name, "rot90", [image, k]) as scope:
        image = checks.assert_at_least_3d(ops.convert_to_tensor(image, name="image"))
        k = ops.convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.get_shape().assert_has_rank(0)
        k = gen.floor_mod(k, 4)
        return _by_rank(image, lambda: _rot90(image, k, 0, scope), lambda: _rot90(image, k, 1, scope))


def _rot90(image, k, first, scope):
    """Turns dimensions `first` and the next by k, from 0 to 3, quarters."""
    swapped = [0, 2, 1, 3] if first else [1, 0, 2]
    cases = [
        (math_ops.equal(k, 1), lambda: array_ops.transpose(array_ops.reverse_v2(image, [first + 1]), swapped)),
        (math_ops.equal(k, 2), lambda: array_ops.reverse_v2(image, [first, first + 1])),
        (math_ops.equal(k, 3), lambda: array_ops.reverse_v2(array_ops.transpose(image, swapped), [first + 1])),
    ]
    result = cond.case(cases, default=lambda: image, exclusive=True, name=scope)
    shape = result.get_shape()
    if first:
        result.set_shape([None] * 4 if shape.ndims is None else [shape[0], None, None, shape[3]])
    else:
        shape = image.get_shape()
        result.set_shape([None, None, None if shape.ndims is None else shape[2]])
    return result


def transpose(image, name=None):
    """Rows as columns."""
    with ops.name_scope(name, "transpose", [image]):
        image = checks.assert_at_least_3d(ops.convert_to_tensor(image, name="image"))
        return _by_rank(image, lambda: array_ops.transpose(image, [1, 0, 2], name=name),
                        lambda: array_ops.transpose(image, [0, 2, 1, 3], name=name))


transpose_image = transpose


# Cropping and padding


def central_crop(image, central_fraction):
    """The middle of images: `central_fraction` of each side."""
    with ops.name_scope(None, "central_crop", [image]):
        image = ops.convert_to_tensor(image, name="image")
        message = "central_fraction must be within (0, 1]"
        known_fraction = tensor_util.constant_value(central_fraction) if checks.is_tensor(central_fraction) else \
            central_fraction
        if known_fraction is None:
            within = gen.logical_and(central_fraction > 0.0, central_fraction <= 1.0)
            image = control_flow_ops.with_dependencies(checks.check(within, message), image)
            central_fraction = math_ops.cast(central_fraction, dtypes.float64)
        else:
            central_fraction = known_fraction
            if central_fraction <= 0.0 or central_fraction > 1.0:
                raise ValueError(message)
            if central_fraction == 1.0:
                return image
        checks.assert_at_least_3d(image)
        rank = image.get_shape().ndims
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        known = image.get_shape().as_list()
        first = rank - 3
        sides = [array_ops.shape(image)[i] if known[i] is None else known[i] for i in (first, first + 1)]
        starts = []
        for side in sides:
            if isinstance(side, int) and known_fraction is not None:
                starts.append(int((float(side) - float(side) * central_fraction) / 2))
            else:
                length = math_ops.cast(side, dtypes.float64)
                starts.append(math_ops.cast((length - length * central_fraction) / 2, dtypes.int32))
        sizes = [side - start * 2 for side, start in zip(sides, starts)]
        begin = array_ops.stack([0] * first + starts + [0])
        extent = array_ops.stack([-1] * first + sizes + [-1])
        image = array_ops.slice(image, begin, extent)
        image.set_shape(known[:first] + [n if isinstance(n, int) else None for n in sizes] + known[-1:])
        return image


def _known(sizes):
    return [None if checks.is_tensor(n) else n for n in sizes]


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Zeros around images, which come to lie at the given offset of the given size."""
    with ops.name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = checks.as_batch(ops.convert_to_tensor(image, name="image"))
        assertions = checks.check_at_least_3d(image, require_static=False)
        batch, height, width, depth = checks.dimensions(image, rank=4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        assertions += checks.check(offset_height >= 0, "offset_height must be >= 0")
        assertions += checks.check(offset_width >= 0, "offset_width must be >= 0")
        assertions += checks.check(after_width >= 0, "width must be <= target - offset")
        assertions += checks.check(after_height >= 0, "height must be <= target - offset")
        image = control_flow_ops.with_dependencies(assertions, image)
        paddings = array_ops.reshape(
            array_ops.stack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]), [4, 2])
        padded = array_ops.pad(image, paddings)
        padded.set_shape(_known([batch, target_height, target_width, depth]))
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of images that begins at the given offset and has the given size."""
    with ops.name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = checks.as_batch(ops.convert_to_tensor(image, name="image"))
        assertions = checks.check_at_least_3d(image, require_static=False)
        batch, height, width, depth = checks.dimensions(image, rank=4)
        assertions += checks.check(offset_width >= 0, "offset_width must be >= 0.")
        assertions += checks.check(offset_height >= 0, "offset_height must be >= 0.")
        assertions += checks.check(target_width > 0, "target_width must be > 0.")
        assertions += checks.check(target_height > 0, "target_height must be > 0.")
        assertions += checks.check(width >= (target_width + offset_width), "width must be >= target + offset.")
        assertions += checks.check(height >= (target_height + offset_height), "height must be >= target + offset.")
        image = control_flow_ops.with_dependencies(assertions, image)
        cropped = array_ops.slice(image, array_ops.stack([0, offset_height, offset_width, 0]),
                                  array_ops.stack([-1, target_height, target_width, -1]))
        cropped.set_shape(_known([batch, target_height, target_width, depth]))
        return cropped if is_batch else array_ops.squeeze(cropped, axis=[0])


def _positive_target(target_height, target_width):
    return (checks.check(target_width > 0, "target_width must be > 0.")
            + checks.check(target_height > 0, "target_height must be > 0."))


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """Images cropped or padded around their middle to the given size."""
    with ops.name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = checks.as_batch(ops.convert_to_tensor(image, name="image"))
        assertions = checks.check_at_least_3d(image, require_static=False)
        assertions += _positive_target(target_height, target_width)
        image = control_flow_ops.with_dependencies(assertions, image)
        if checks.is_tensor(target_height):
            target_height = control_flow_ops.with_dependencies(assertions, target_height)
        if checks.is_tensor(target_width):
            target_width = control_flow_ops.with_dependencies(assertions, target_width)
        _, height, width, _ = checks.dimensions(image, rank=4)
        more_width = target_width - width
        crop_width = checks.greater(-more_width // 2, 0)
        pad_width = checks.greater(more_width // 2, 0)
        more_height = target_height - height
        crop_height = checks.greater(-more_height // 2, 0)
        pad_height = checks.greater(more_height // 2, 0)
        cropped = crop_to_bounding_box(image, crop_height, crop_width, checks.lesser(target_height, height),
                                       checks.lesser(target_width, width))
        resized = pad_to_bounding_box(cropped, pad_height, pad_width, target_height, target_width)
        if resized.get_shape().ndims is None:
            raise ValueError("resized contains no shape.")
        _, new_height, new_width, _ = checks.dimensions(resized, rank=4)
        assertions = checks.check(checks.same(new_height, target_height), "resized height is not correct.")
        assertions += checks.check(checks.same(new_width, target_width), "resized width is not correct.")
        resized = control_flow_ops.with_dependencies(assertions, resized)
        return resized if is_batch else array_ops.squeeze(resized, axis=[0])


# Resizing


class ResizeMethodV1:
    """How pixels between pixels are computed, by number."""
    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethod:
    """How pixels between pixels are computed, by name."""
    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _known_size(size):
    dims = tensor_util.constant_value_as_shape(size).dims
    return dims[0].value, dims[1].value


def _fit(size, images):
    """The greatest size within `size` that keeps the proportions."""
    new_height, new_width = _known_size(size)
    _, height, width, _ = checks.dimensions(images, rank=4)
    by_height = math_ops.cast(new_height, dtypes.float32) / math_ops.cast(height, dtypes.float32)
    by_width = math_ops.cast(new_width, dtypes.float32) / math_ops.cast(width, dtypes.float32)
    scale = gen.minimum(by_height, by_width)
    scaled = [math_ops.cast(math_ops.round(scale * math_ops.cast(n, dtypes.float32)), dtypes.int32)
              for n in (height, width)]
    return ops.convert_to_tensor(scaled, dtypes.int32, name="size")


def _resize(images, resize_fn, size, preserve_aspect_ratio, name, skip_if_same):
    with ops.name_scope(name, "resize", [images, size]):
        images = ops.convert_to_tensor(images, name="images")
        rank = images.get_shape().ndims
        if rank is None:
            raise ValueError("'images' contains no shape.")
        if rank not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        if rank == 3:
            images = array_ops.expand_dims(images, 0)
        _, height, width, _ = images.get_shape().as_list()
        try:
            size = ops.convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            size = _fit(size, images)
        new_height, new_width = _known_size(size)
        unchanged = None not in (new_height, new_width) and (height, width) == (new_height, new_width)
        if not (skip_if_same and unchanged):
            images = resize_fn(images, size)
            images.set_shape([None, new_height, new_width, None])
        return images if rank == 4 else array_ops.squeeze(images, axis=[0])


def resize_images(images, size, method=ResizeMethodV1.BILINEAR, align_corners=False, preserve_aspect_ratio=False,
                  name=None):
    """Images at another size. The result is float32 unless the method is NEAREST_NEIGHBOR or the size the same."""
    functions = {"bilinear": gen.resize_bilinear, "nearest": gen.resize_nearest_neighbor,
                 "bicubic": gen.resize_bicubic, "area": gen.resize_area}
    names = {ResizeMethodV1.BILINEAR: "bilinear", ResizeMethodV1.NEAREST_NEIGHBOR: "nearest",
             ResizeMethodV1.BICUBIC: "bicubic", ResizeMethodV1.AREA: "area"}

    def resize_fn(batch, new_size):
        function = functions.get(names.get(method, method))
        if function is None:
            raise ValueError("Resize method is not implemented.")
        return function(batch, new_size, align_corners=align_corners)

    return _resize(images, resize_fn, size, preserve_aspect_ratio, name, skip_if_same=True)


def resize_images_v2(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False,
                     name=None):
    """Images at another size. The result is float32 unless the method is nearest."""

    def sampled(batch, new_size, kernel):
        scale = (math_ops.cast(new_size, dtype=dtypes.float32)
                 / math_ops.cast(array_ops.shape(batch)[1:3], dtype=dtypes.float32))
        return gen.scale_and_translate(batch, new_size, scale, array_ops.zeros([2]), kernel_type=kernel,
                                       antialias=antialias)

    def resize_fn(batch, new_size):
        if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
            return sampled(batch, new_size, method)
        if antialias and method in ("bilinear", "bicubic"):
            return sampled(batch, new_size, "triangle" if method == "bilinear" else "keyscubic")
        if method == "bilinear":
            return gen.resize_bilinear(batch, new_size, half_pixel_centers=True)
        if method == "nearest":
            return gen.resize_nearest_neighbor(batch, new_size, half_pixel_centers=True)
        if method == "bicubic":
            return gen.resize_bicubic(batch, new_size, half_pixel_centers=True)
        if method == "area":
            return gen.resize_area(batch, new_size)
        raise ValueError(f"Resize method is not implemented: {method}")

    return _resize(images, resize_fn, size, preserve_aspect_ratio, name, skip_if_same=False)


def _resize_with_pad(image, target_height, target_width, resize_fn, dtype):
    with ops.name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = checks.as_batch(ops.convert_to_tensor(image, name="image"))
        assertions = checks.check_at_least_3d(image, require_static=False)
        assertions += _positive_target(target_height, target_width)
        image = control_flow_ops.with_dependencies(assertions, image)
        _, height, width, _ = checks.dimensions(image, rank=4)
        height, width, to_height, to_width = (math_ops.cast(n, dtype=dtype)
                                              for n in (height, width, target_height, target_width))
        ratio = checks.greater(width / to_width, height / to_height)
        new_height, new_width = height / ratio, width / ratio
        size = [math_ops.cast(gen.floor(n), dtype=dtypes.int32) for n in (new_height, new_width)]
        pad_height = gen.floor((to_height - new_height) / 2)
        pad_width = gen.floor((to_width - new_width) / 2)
        pad_height = checks.greater(0, math_ops.cast(pad_height, dtype=dtypes.int32))
        pad_width = checks.greater(0, math_ops.cast(pad_width, dtype=dtypes.int32))
        resized = resize_fn(image, size)
        padded = pad_to_bounding_box(resized, pad_height, pad_width, target_height, target_width)
        if padded.get_shape().ndims is None:
            raise ValueError("padded contains no shape.")
        checks.dimensions(padded, rank=4)
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])


def resize_image_with_pad_v1(image, target_height, target_width, method=ResizeMethodV1.BILINEAR, align_corners=False):
    """Images resized to fit into the given size, with zeros around them."""
    return _resize_with_pad(image, target_height, target_width,
                            lambda im, size: resize_images(im, size, method, align_corners=align_corners),
                            dtypes.float64)


def resize_image_with_pad_v2(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """Images resized to fit into the given size, with zeros around them."""
    return _resize_with_pad(image, target_height, target_width,
                            lambda im, size: resize_images_v2(im, size, method, antialias=antialias), dtypes.float32)


resize_image_with_pad = resize_image_with_pad_v1


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images [batch, height, width, channels] in another size, of cubics through 4 x 4 pixels, as float32."""
    return gen.resize_bicubic(images=images, size=size, align_corners=align_corners,
                              half_pixel_centers=half_pixel_centers, name=name)


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images [batch, height, width, channels] in another size, of lines through 2 x 2 pixels, as float32."""
    return gen.resize_bilinear(images=images, size=size, align_corners=align_corners,
                               half_pixel_centers=half_pixel_centers, name=name)


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images [batch, height, width, channels] in another size, each pixel the nearest one."""
    return gen.resize_nearest_neighbor(images=images, size=size, align_corners=align_corners,
                                       half_pixel_centers=half_pixel_centers, name=name)
