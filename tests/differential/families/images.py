"""Images: scaled, cut out, taken apart, normalised; morphology."""

from . import family
from .products import weights
from .windows import extent, image

HALF_PIXELS = ["", ", align_corners=True", ", half_pixel_centers=True"]


@family(3)
def resize(g):
    a = image(g, 4)
    if a is None or g.float_type == "float64":  # What the ops give is single precision.
        return None
    n, h, w, c = a.shape
    size = [g.random.choice([1, 2, d, d + 1, 2 * d, 3 * d]) for d in (h, w)]
    shape = (n, *size, c)
    if not g.fits(shape):
        return None
    how = g.random.choice(["bilinear", "bilinear", "nearest_neighbor", "bicubic", "area"])
    mode = g.random.choice(HALF_PIXELS[:2] if how == "area" else HALF_PIXELS)
    if how == "bicubic" and g.coarse:
        return None
    text = f"tf.compat.v1.image.resize_{how}(x, {size}{mode})"
    return g.emit(f"single(lambda x: tf.cast({text}, x.dtype), {a.name})", "F", shape)


@family(5)
def crop(g):
    a = image(g, 4)
    if a is None or g.float_type in ("float64", "bfloat16") or a.shape[0] is None:
        return None
    count = g.random.randint(1, 3)
    boxes = [[round(g.random.uniform(-0.2, 1.2), 3) for _ in range(4)] for _ in range(count)]
    which = [g.random.randrange(a.shape[0]) for _ in range(count)]
    size = [g.random.choice([1, 2, 3, 5]) for _ in range(2)]
    shape = (count, *size, a.shape[3])
    method = g.random.choice(["bilinear", "nearest"])
    if not g.fits(shape):
        return None
    text = f"tf.image.crop_and_resize(x, {boxes}, {which}, {size}, method='{method}', extrapolation_value=0.5)"
    return g.emit(f"single(lambda x: tf.cast({text}, x.dtype), {a.name})", "F", shape)


@family(2)
def patches(g):
    a = image(g, 4)
    if a is None:
        return None
    n, h, w, c = a.shape
    sizes = [g.random.choice([1, 2, 3]) for _ in range(2)]
    stride, rate = g.random.choice([1, 2, 3]), g.random.choice([1, 1, 2])
    padding = g.random.choice(["SAME", "VALID"])
    out = [extent(d, s, stride, padding, rate) for d, s in zip((h, w), sizes)]
    if None in out:
        return None
    shape = (n, *out, sizes[0] * sizes[1] * c)
    if not g.fits(shape):
        return None
    return g.emit(
        f"tf.image.extract_patches({a.name}, {[1, *sizes, 1]}, {[1, stride, stride, 1]}, {[1, rate, rate, 1]}, "
        f"'{padding}')",
        "F",
        shape,
    )


@family(2)
def morphology(g):
    a = image(g, 4)
    if a is None or g.special:
        return None
    sizes = [g.random.choice([1, 2, 3]) for _ in range(2)]
    stride, rate = g.random.choice([1, 2]), g.random.choice([1, 1, 2])
    padding = g.random.choice(["SAME", "VALID"])
    out = [extent(d, s, stride, padding, rate) for d, s in zip(a.shape[1:3], sizes)]
    if None in out:
        return None
    return g.emit(
        f"tf.raw_ops.Dilation2D(input={a.name}, filter={weights(g, *sizes, a.shape[3])}, "
        f"strides={[1, stride, stride, 1]}, rates={[1, rate, rate, 1]}, padding='{padding}')",
        "F",
        (a.shape[0], *out, a.shape[3]),
    )


@family(2)
def batch_space(g):
    """Cut into a batch of blocks, changed, and joined again with other crops."""
    a = image(g, 4)
    if a is None:
        return None
    n, h, w, c = a.shape
    block = [g.random.choice([1, 2, 3]) for _ in range(2)]
    pads = [[g.random.choice([0, 1]), 0] for _ in range(2)]
    for d, b, p in zip((h, w), block, pads):
        p[1] = -(d + p[0]) % b
    crops = [[0, g.random.choice([0, sum(p)])] for p in pads]
    size = [d + sum(p) - sum(k) for d, p, k in zip((h, w), pads, crops)]
    return g.emit(
        f"tf.raw_ops.BatchToSpaceND(input=tf.sin(tf.raw_ops.SpaceToBatchND(input={a.name}, block_shape={block}, "
        f"paddings={pads})), block_shape={block}, crops={crops})",
        "F",
        (n, *size, c),
    )


@family(2)
def normalisation(g):
    """Batch normalisation with given moments, or all that training gives."""
    a = image(g, 4)
    if a is None or g.float_type != "float32":
        return None
    c = a.shape[3]
    parts = f"{weights(g, c)}, {weights(g, c)}"
    if g.random.random() < 0.5:
        return g.emit(f"batch_norm({a.name}, {parts}, {weights(g, c)}, tf.square({weights(g, c)}) + 0.3)", "F", a.shape)
    text = f"batch_norm({a.name}, {parts})"
    return g.emit(f"tf.nn.relu({text})" if g.random.random() < 0.5 else f"{text} + {a.name}", "F", a.shape)


@family(1)
def contrast(g):
    a = image(g, 4)
    if a is None or g.float_type != "float32":
        return None
    way = g.random.random()
    if way < 0.3:
        return g.emit(f"tf.image.adjust_contrast({a.name}, 1.5)", "F", a.shape)
    if way < 0.6:
        return g.emit(f"tf.image.flip_left_right({a.name})", "F", a.shape)
    if way < 0.8:
        return g.emit(f"single(tf.image.per_image_standardization, {a.name})", "F", a.shape)
    if a.shape[1] != a.shape[2]:  # Version 1 has no gradient of a quarter turn to another static shape.
        return g.emit(f"tf.image.flip_up_down({a.name})", "F", a.shape)
    return g.emit(f"tf.image.rot90({a.name}, 2)", "F", a.shape)
