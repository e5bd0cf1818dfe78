"""What image functions check of their arguments: in Python what is known, by assertions in the graph what is not."""
from penstock._src.graph import gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.state import variables

__all__ = ["as_batch", "assert_3d", "assert_at_least_3d", "assert_grayscale", "check", "check_at_least_3d",
           "compatible_shapes", "dimensions", "is_tensor", "lesser", "greater", "same"]


def is_tensor(x):
    """Whether it is a tensor or a variable."""
    return isinstance(x, (ops.Tensor, variables.Variable))


def check(condition, message):
    """[an assertion] about a tensor, else ValueError or []."""
    if is_tensor(condition):
        return [control_flow_ops.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def lesser(x, y):
    """The lesser of two: a number if both are numbers, else a tensor."""
    return gen.minimum(x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def greater(x, y):
    """The greater of two: a number if both are numbers, else a tensor."""
    return gen.maximum(x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def same(x, y):
    """Whether two are equal: a bool if both are numbers, else a tensor."""
    return math_ops.equal(x, y) if is_tensor(x) or is_tensor(y) else x == y


def dimensions(image, rank):
    """Sizes of all dimensions: integers where known, tensors elsewhere."""
    if image.get_shape().is_fully_defined():
        return image.get_shape().as_list()
    known = image.get_shape().with_rank(rank).as_list()
    values = array_ops.unstack(array_ops.shape(image), rank)
    return [v if k is None else k for k, v in zip(known, values)]


def _check_positive(shape, require_static, message):
    """Whether there is more to check when the graph runs; ValueError for what is known to be wrong."""
    if require_static and not shape.is_fully_defined():
        raise ValueError(message)
    some = "inner 3" if tf2.enabled() else "all"  # a batch may be empty in version 2
    if shape.ndims is not None and 0 in (shape[-3:] if tf2.enabled() else shape).as_list():
        raise ValueError(f"{some} dims of 'image.shape' must be > 0: {shape}")
    return not shape.is_fully_defined()


def _assert_positive(image):
    sizes = array_ops.shape(image)
    if tf2.enabled():
        return check_ops.assert_positive(sizes[-3:], ["inner 3 dims of 'image.shape' must be > 0."])
    return check_ops.assert_positive(sizes, ["all dims of 'image.shape' must be > 0."])


def _shown(image):
    """The shape as messages of version 2 have it."""
    return f" (shape {image.shape})" if tf2.enabled() else ""


def check_3d(image, require_static=True):
    """Assertions to run that an image has three dimensions: none if its shape is known. ValueError if it has others."""
    try:
        shape = image.get_shape().with_rank(3)
    except ValueError:
        raise ValueError(f"'image' (shape {image.shape}) must be three-dimensional.") from None
    unknown = _check_positive(shape, require_static, f"'image' (shape {shape}) must be fully defined.")
    return [_assert_positive(image)] if unknown else []


def check_at_least_3d(image, require_static=True):
    """As `check_3d`, for images or batches of them."""
    shape = image.get_shape()
    try:
        shape = shape.with_rank(3) if shape.ndims is None else shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError(f"'image'{_shown(image)} must be at least three-dimensional.") from None
    if not _check_positive(shape, require_static, "'image' must be fully defined."):
        return []
    return [_assert_positive(image),
            check_ops.assert_greater_equal(array_ops.rank(image), 3,
                                           message="'image' must be at least three-dimensional.")]


def assert_3d(image):
    """The image, once it was found to have three dimensions."""
    return control_flow_ops.with_dependencies(check_3d(image, require_static=False), image)


def assert_at_least_3d(image):
    """The images, once they were found to have three dimensions or more."""
    return control_flow_ops.with_dependencies(check_at_least_3d(image, require_static=False), image)


def assert_grayscale(image):
    """The images, once they were found to have one channel."""
    shape = image.get_shape()
    try:
        shape = shape.with_rank(2) if shape.ndims is None else shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError("A grayscale image must be at least two-dimensional.") from None
    checks = []
    if shape.is_fully_defined():
        if shape.as_list()[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
    else:
        checks = [check_ops.assert_equal(array_ops.shape(image)[-1], 1,
                                         message="Last dimension of a grayscale image should be size 1."),
                  check_ops.assert_greater_equal(array_ops.rank(image), 3,
                                                 message="A grayscale image must be at least two-dimensional.")]
    return control_flow_ops.with_dependencies(checks, image)


def as_batch(image):
    """(a batch of images, whether it was one)."""
    rank = image.get_shape().ndims
    if rank == 4:
        return image, True
    if rank not in (None, 3):
        raise ValueError(f"'image'{_shown(image)} must have either 3 or 4 dimensions.")
    image = array_ops.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, False


def compatible_shapes(img1, img2):
    """The shapes of two images or batches that can be compared, and assertions that they can."""
    shape1 = img1.get_shape().with_rank_at_least(3)
    shape2 = img2.get_shape().with_rank_at_least(3)
    shape1[-3:].assert_is_compatible_with(shape2[-3:])
    if shape1.ndims is not None and shape2.ndims is not None:
        for dim1, dim2 in zip(reversed(shape1.dims[:-3]), reversed(shape2.dims[:-3])):
            if not (dim1 == 1 or dim2 == 1 or dim1.is_compatible_with(dim2)):
                raise ValueError(f"Two images are not compatible: {shape1} and {shape2}")
    shape1, shape2 = array_ops.shape_n([img1, img2])
    checks = [control_flow_ops.Assert(gen.greater_equal(array_ops.size(shape1), 3), [shape1, shape2],
                                      summarize=10),
              control_flow_ops.Assert(math_ops.reduce_all(math_ops.equal(shape1[-3:], shape2[-3:])),
                                      [shape1, shape2], summarize=10)]
    return shape1, shape2, checks
