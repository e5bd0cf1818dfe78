"""tf.contrib.image: images moved, turned and warped by projective transforms."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops

_IMAGE_TYPES = frozenset([dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64])


def _batch(images):
    """(images as [batch, height, width, channels], their number of dimensions). TypeError for others than 2 to 4."""
    images = ops.convert_to_tensor(images, name="images")
    if images.dtype.base_dtype not in _IMAGE_TYPES:
        raise TypeError("Invalid dtype %s." % images.dtype)
    ndims = images.get_shape().ndims
    if ndims is None:
        raise TypeError("image_or_images rank must be statically known")
    if not 2 <= ndims <= 4:
        raise TypeError("Images should have rank between 2 and 4.")
    if ndims == 2:
        return images[None, :, :, None], ndims
    return images[None, :, :, :] if ndims == 3 else images, ndims


def _rows(values, name, what):
    """A vector or a batch of them as a batch. TypeError for another rank."""
    values = ops.convert_to_tensor(values, name=name, dtype=dtypes.float32)
    ndims = values.get_shape().ndims
    if ndims is None:
        raise TypeError("%s rank must be statically known" % name)
    if ndims not in (1, 2):
        raise TypeError("%s should have rank 1 or 2." % what)
    return values[None] if ndims == 1 else values


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Images whose pixel (x, y) is pixel ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1, of
    `images`: [a0, a1, a2, b0, b1, b2, c0, c1] are `transforms`, one for all or one for each; 0 is what lies outside.

    TypeError for ranks that do not fit, ValueError unless `output_shape` is [height, width].
    """
    with ops.name_scope(name, "transform"):
        batch, ndims = _batch(images)
        if output_shape is None:
            output_shape = array_ops.shape(batch)[1:3]
            known = None if ops.executing_eagerly() else tensor_util.constant_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = ops.convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.get_shape().is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        output = gen.image_projective_transform_v2(
            images=batch, transforms=_rows(transforms, "transforms", "Transforms"), output_shape=output_shape,
            interpolation=interpolation.upper())
        if ndims == 2:
            return output[0, :, :, 0]
        return output[0, :, :, :] if ndims == 3 else output


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Images turned counterclockwise by angles in radians, one for all or one for each."""
    with ops.name_scope(name, "rotate"):
        batch, _ = _batch(images)
        height, width = (math_ops.cast(array_ops.shape(batch)[axis], dtypes.float32)[None] for axis in (1, 2))
        return transform(images, angles_to_projective_transforms(angles, height, width), interpolation=interpolation)


def translate(images, translations, interpolation="NEAREST", name=None):
    """Images moved by [dx, dy], one pair for all or one for each."""
    with ops.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """The transforms [n, 8] that turn images of that size around their middle."""
    with ops.name_scope(name, "angles_to_projective_transforms"):
        angles = ops.convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if angles.get_shape().ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = angles[None] if angles.get_shape().ndims == 0 else angles
        cos, sin = gen.cos(angles), gen.sin(angles)
        right, bottom = image_width - 1, image_height - 1
        x_offset = (right - (cos * right - sin * bottom)) / 2.0
        y_offset = (bottom - (sin * right + cos * bottom)) / 2.0
        columns = [column[:, None] for column in (cos, -sin, x_offset, sin, cos, y_offset)]
        return array_ops.concat(columns + [array_ops.zeros((array_ops.shape(angles)[0], 2), dtypes.float32)], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """The transforms [n, 8] that move images by [dx, dy]."""
    with ops.name_scope(name, "translations_to_projective_transforms"):
        translations = _rows(translations, "translations", "Translations")
        number = array_ops.shape(translations)[0]
        one = array_ops.ones((number, 1), dtypes.float32)
        zero = array_ops.zeros((number, 1), dtypes.float32)
        return array_ops.concat(
            [one, zero, -translations[:, 0, None], zero, one, -translations[:, 1, None], zero, zero], axis=1)


def compose_transforms(*transforms):
    """The transform that is all of these, the last one first."""
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with ops.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            composed = math_ops.matmul(composed, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms):
    """Transforms [n, 8] as matrices [n, 3, 3]. ValueError for another rank than 1 or 2."""
    with ops.name_scope("flat_transforms_to_matrices"):
        transforms = ops.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError("Transforms should be 1D or 2D, got: %s" % transforms)
        transforms = array_ops.reshape(transforms, [-1, 8])
        last = array_ops.ones([array_ops.shape(transforms)[0], 1])
        return array_ops.reshape(array_ops.concat([transforms, last], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices):
    """Matrices [n, 3, 3] as transforms [n, 8]. ValueError for another rank than 2 or 3."""
    with ops.name_scope("matrices_to_flat_transforms"):
        matrices = ops.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError("Matrices should be 2D or 3D, got: %s" % matrices)
        transforms = array_ops.reshape(matrices, [-1, 9])
        transforms /= transforms[:, 8:9]
        return transforms[:, :8]


def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name="bipartite_match"):
    """Pairs of rows and columns of a float matrix of distances: again and again the nearest two that are free.

    Only the first `num_valid_rows` rows take part (all if it is negative), and at most `top_k` pairs are made (as
    many as can be if it is not positive). Gives two int32 vectors: each row's column, each column's row; -1 is none.
    InvalidArgumentError if there are fewer rows than `num_valid_rows`.
    """
    return gen.bipartite_match(distance_mat, num_valid_rows, top_k, name=name)
