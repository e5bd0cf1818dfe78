"""Image files whose kind is not known beforehand."""
from penstock._src.graph import defaults, dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import math_ops
from penstock._src.ops.strings import string_ops
from penstock._src.ops.image.image_color import convert_image_dtype

__all__ = ["decode_image", "encode_png", "is_jpeg"]


def is_jpeg(contents, name=None):
    """Whether a file's contents begin as those of a JPEG file do."""
    with ops.name_scope(name, "is_jpeg"):
        return math_ops.equal(string_ops.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The image in a BMP, GIF, JPEG or PNG file, of type `dtype`.

    channels: 0 (or None) for as many as the file has, 1, 3 or 4. expand_animations: whether a GIF file gives all of its
    images, with one dimension more, or the first one.
    """
    with ops.name_scope(name, "decode_image"):
        dtype = dtypes.as_dtype(dtype)
        stored = dtype if dtype in (dtypes.float32, dtypes.uint8, dtypes.uint16) else dtypes.uint16
        image = gen.decode_image(contents=contents, channels=channels or 0, dtype=stored,
                                 expand_animations=expand_animations)
        return image if stored == dtype else convert_image_dtype(image, dtype)


def encode_png(image, compression=-1, name=None):
    """PNG files of images with one to four channels of 8 or 16 bits, as the type of `image` tells."""
    if tf2.enabled() or defaults.get_default_graph()._eager:
        image = ops.convert_to_tensor(image)  # so a type other than these is refused, not cast
    return gen.encode_png(image, compression, name)
