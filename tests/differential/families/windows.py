"""Convolutions, pools, and their relatives over images of small channel counts."""

from . import family
from .products import weights

CHANNELS = [1, 1, 1, 2, 3, 4, 5, 8, 16]


def extent(d, filter, stride, padding, dilation=1):
    """The size of the output, None where there is no window."""
    reach = (filter - 1) * dilation + 1
    if padding == "SAME":
        return -(-d // stride)
    return (d - reach) // stride + 1 if d >= reach else None


def image(g, rank):
    """An image of the rank with known size and channels: a value that has this rank, or one that is reshaped."""
    a = g.pick(lambda v: v.rank == rank and None not in v.shape[1:] and 0 not in v.shape, dtype="F")
    if a is not None and g.random.random() < 0.8:
        return a
    a = g.pick(lambda v: v.rank >= rank - 1 and None not in v.shape[1:] and 0 not in v.shape, dtype="F")
    if a is None or a.rank > rank:
        return None
    return a if a.rank == rank else g.emit(f"tf.expand_dims({a.name}, {a.rank})", "F", a.shape + (1,))


def settings(g, image, dims, dilate=True):
    """Filter sizes, strides, dilation, padding and the output's sizes; None where a window does not fit."""
    padding = g.random.choice(["SAME", "VALID"])
    filters = [g.random.choice([1, 2, 3, 3, 4, 5]) for _ in range(dims)]
    stride = g.random.choice([1, 1, 1, 2, 3])
    dilation = g.random.choice([1, 1, 1, 2]) if stride == 1 and dilate else 1
    sizes = [extent(d, f, stride, padding, dilation) for d, f in zip(image.shape[1:-1], filters)]
    return None if None in sizes else (filters, stride, dilation, padding, sizes)


@family(5)
def convolution(g):
    dims = g.random.choices([1, 2, 3], [3, 6, 1])[0]
    a = image(g, dims + 2)
    found = a and settings(g, a, dims, dilate=dims < 3)
    if not found:
        return None
    filters, stride, dilation, padding, sizes = found
    channels = a.shape[-1]
    out = g.random.choice(CHANNELS)
    shape = (a.shape[0], *sizes, out)
    if not g.fits(shape):
        return None
    groups = 1
    if dims == 2 and channels > 1 and g.random.random() < 0.2:
        groups = g.random.choice([n for n in (2, 3, 4, channels) if channels % n == 0] or [1])
    if groups > 1:
        out = groups * g.random.choice([1, 2])
        shape = shape[:-1] + (out,)
    filter = weights(g, *filters, channels // groups, out)
    if dims == 1:
        text = (
            f"tf.nn.conv1d({a.name}, {filter}, {stride}, '{padding}')"
            if dilation == 1
            else f"tf.nn.conv1d({a.name}, {filter}, 1, '{padding}', dilations={dilation})"
        )
    elif dims == 2:
        more = f", dilations=[1, {dilation}, {dilation}, 1]" if dilation > 1 else ""
        text = f"tf.nn.conv2d({a.name}, {filter}, [1, {stride}, {stride}, 1], '{padding}'{more})"
    else:
        text = f"tf.nn.conv3d({a.name}, {filter}, [1, {stride}, {stride}, {stride}, 1], '{padding}')"
    if dims == 2 and dilation == 1 and g.random.random() < 0.25:
        return general_convolution(g, a, filters, filter, out)
    way = g.random.random()
    if way < 0.4:
        text = f"tf.nn.bias_add({text}, {weights(g, out)})"
        if way < 0.2:
            text = f"tf.nn.{g.random.choice(['relu', 'relu6', 'elu', 'leaky_relu'])}({text})"
    return g.emit(text, "F", shape)


def general_convolution(g, a, filters, filter, out):
    """Strides and dilations that differ by direction, padding of any size."""
    if g.random.random() < 0.5:
        strides, rates = [g.random.choice([1, 2, 3]) for _ in range(2)], [1, 1]
    else:
        strides, rates = [1, 1], [g.random.choice([1, 2, 3]) for _ in range(2)]
    pads = [[g.random.randint(0, f) for _ in range(2)] for f in filters]
    sizes = [extent(d + sum(p), f, s, "VALID", r) for d, p, f, s, r in zip(a.shape[1:3], pads, filters, strides, rates)]
    shape = (a.shape[0], *sizes, out)
    if None in sizes or not g.fits(shape):
        return None
    return g.emit(
        f"tf.nn.conv2d({a.name}, {filter}, {[1, *strides, 1]}, {[[0, 0], *pads, [0, 0]]}, dilations={[1, *rates, 1]})",
        "F",
        shape,
    )


@family(3)
def depthwise(g):
    a = image(g, 4)
    found = a and settings(g, a, 2)
    if not found:
        return None
    filters, stride, dilation, padding, sizes = found
    multiplier = g.random.choice([1, 1, 2, 3])
    shape = (a.shape[0], *sizes, a.shape[-1] * multiplier)
    if not g.fits(shape):
        return None
    filter = weights(g, *filters, a.shape[-1], multiplier)
    more = f", dilations=[{dilation}, {dilation}]" if dilation > 1 else ""
    if g.random.random() < 0.25:
        out = g.random.choice(CHANNELS)
        point = weights(g, 1, 1, shape[-1], out)
        return g.emit(
            f"tf.nn.separable_conv2d({a.name}, {filter}, {point}, [1, {stride}, {stride}, 1], '{padding}'{more})",
            "F",
            shape[:-1] + (out,),
        )
    return g.emit(
        f"tf.nn.depthwise_conv2d({a.name}, {filter}, [1, {stride}, {stride}, 1], '{padding}'{more})", "F", shape
    )


@family(3)
def transposed(g):
    dims = g.random.choices([1, 2, 3], [2, 5, 1])[0]
    a = image(g, dims + 2)
    if a is None:
        return None
    padding = g.random.choice(["SAME", "VALID"])
    stride = g.random.choice([1, 1, 2, 3])
    filters = [g.random.choice([1, 2, 3, 3, 4]) for _ in range(dims)]
    sizes = [
        d * stride if padding == "SAME" else d * stride + max(f - stride, 0) for d, f in zip(a.shape[1:-1], filters)
    ]
    out = g.random.choice(CHANNELS)
    shape = (a.shape[0], *sizes, out)
    if not g.fits(shape):
        return None
    filter = weights(g, *filters, out, a.shape[-1])
    first = a.shape[0] if a.shape[0] is not None else f"tf.shape({a.name})[0]"
    steps = stride if dims == 1 else [1] + [stride] * dims + [1]
    name = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"][dims - 1]
    made = f"tf.stack([{first}, {', '.join(map(str, sizes))}, {out}])"
    return g.emit(
        f"tf.nn.{name}({a.name}, {filter}, {made}, {steps}, '{padding}')",
        "F",
        shape,
    )


@family(4)
def pool(g):
    dims = g.random.choices([1, 2, 3], [1, 5, 1])[0]
    a = image(g, dims + 2)
    found = a and settings(g, a, dims, dilate=False)
    if not found:
        return None
    filters, stride, _, padding, sizes = found
    how = g.random.choice(["max", "avg"])
    if g.special:  # TensorFlow's max pools skip NaN.
        how = "avg"
    steps = [stride] * dims
    if dims == 2 and g.random.random() < 0.3:
        filters = [g.random.choice([1, 2, 3, 7]) for _ in range(2)]
        steps = [g.random.choice([1, 2, 4]) for _ in range(2)]
        sizes = [extent(d, f, s, padding) for d, f, s in zip(a.shape[1:3], filters, steps)]
        if None in sizes:
            return None
    shape = (a.shape[0], *sizes, a.shape[-1])
    arguments = f"{[1, *filters, 1]}, {[1, *steps, 1]}, '{padding}'"
    if (how, dims) == ("max", 2) and a.shape[0] is not None and g.random.random() < 0.3:
        return g.emit(f"tf.nn.max_pool_with_argmax({a.name}, {arguments})[0]", "F", shape)
    if (how, dims) == ("max", 3):  # No double precision.
        return g.emit(f"single(lambda x: tf.nn.max_pool3d(x, {arguments}), {a.name})", "F", shape)
    return g.emit(f"tf.nn.{how}_pool{dims}d({a.name}, {arguments})", "F", shape)


@family(2)
def blocks_of_space(g):
    a = image(g, 4)
    if a is None:
        return None
    way = g.random.random()
    n, h, w, c = a.shape
    if way < 0.3 and h % 2 == 0 and w % 2 == 0:
        return g.emit(f"tf.nn.space_to_depth({a.name}, 2)", "F", (n, h // 2, w // 2, c * 4))
    if way < 0.5 and c % 4 == 0:
        return g.emit(f"tf.nn.depth_to_space({a.name}, 2)", "F", (n, h * 2, w * 2, c // 4))
    if way < 0.75 and c > 1 and g.float_type != "float64":
        return g.emit(f"single(lambda x: tf.nn.local_response_normalization(x, 2), {a.name})", "F", a.shape)
    if g.float_type != "float32":
        return None
    return g.emit(f"batch_norm({a.name}, {weights(g, c)}, {weights(g, c)})", "F", a.shape)
