"""Images of different sizes."""
from penstock._src.graph import dtypes, ops, tensor_shape, tensor_util
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.image import image_shape
from penstock._src.control_flow import map_fn
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor


def resize_images_v2(images, size, method=image_shape.ResizeMethod.BILINEAR, preserve_aspect_ratio=False,
                     antialias=False, name=None):
    """`tf.image.resize` of a batch of images of different sizes: a tensor of images of one size.

    images: [batch, (height), (width), channels]; ValueError for another rank.
    """
    with ops.name_scope(name, "RaggedResizeImages", [images, size]):
        return _resized(
            lambda image: image_shape.resize_images_v2(image, size, method, preserve_aspect_ratio, antialias),
            images, size, method)


def resize_images(images, size, method=image_shape.ResizeMethodV1.BILINEAR, align_corners=False,
                  preserve_aspect_ratio=False, name=None):
    """`tf.image.resize` of version 1 of a batch of images of different sizes."""
    with ops.name_scope(name, "RaggedResizeImages", [images, size]):
        return _resized(lambda image: image_shape.resize_images(image, size, method, align_corners,
                                                                preserve_aspect_ratio), images, size, method)


def _resized(resize, images, size, method):
    images = convert_to_tensor_or_ragged_tensor(images)
    if images.shape.rank != 4:
        raise ValueError(f"tf.image.resize: images.shape.rank must be 4 if images is ragged; got {images.shape.rank}")
    size = ops.convert_to_tensor(size, dtypes.int32, name="size")
    nearest = image_shape.ResizeMethod.NEAREST_NEIGHBOR
    dtype = images.dtype if method in (nearest, image_shape.ResizeMethodV1.NEAREST_NEIGHBOR) else dtypes.float32
    known = tensor_util.constant_value_as_shape(size)
    spec = TensorSpec(known.concatenate(tensor_shape.TensorShape([images.shape[-1]])), dtype)

    def one(image):
        return resize(image.to_tensor() if isinstance(image, RaggedTensor) else image)
    return map_fn.map_fn_v2(one, images, fn_output_signature=spec)
