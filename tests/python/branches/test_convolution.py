"""All ways in which convolutions and their gradients are computed, with random shapes at the borders between them."""
import branch_testing
import numpy as np
from branch_testing import branches
from convolution_reference import Geometry, forward, gradients

import penstock.v2 as tf

DTYPES = ["float32"] * 8 + ["float64", "float16", "bfloat16"]


class Shape:
    """A convolution: sizes by spatial dimension, channels, and whether it is a depthwise operation."""

    def __init__(self, rng, batch, size, kernel, channels, outputs, groups=1, strides=1, dilations=1, padding=None,
                 dtype="float32", depthwise=False):
        n = len(size)

        def each(x):
            return [x] * n if isinstance(x, int) else list(x)

        self.batch, self.size, self.kernel = batch, list(size), list(kernel)
        self.channels, self.outputs, self.groups = channels, outputs, groups
        self.strides, self.dilations, self.dtype, self.depthwise = each(strides), each(dilations), dtype, depthwise
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        fits = all(r <= s for r, s in zip(reach, self.size))
        if padding is None:
            padding = rng.choice(["SAME", "SAME", "VALID", "EXPLICIT"])
        if padding == "VALID" and not fits or padding == "EXPLICIT" and n == 3:
            padding = "SAME"
        if padding == "EXPLICIT":
            padding = [[int(p) for p in rng.integers(0, r + 1, 2)] for r in reach]
            if any(sum(p) + s < r for p, s, r in zip(padding, self.size, reach)):
                padding = "SAME"
        self.padding = padding
        self.first = n == 2 and rng.random() < 0.15

    def __str__(self):
        return str(vars(self))


def shapes(rng):
    """Families of shapes, each around the borders of a way."""

    def pick(*values):
        return values[rng.integers(len(values))]

    def dtype():
        return DTYPES[rng.integers(len(DTYPES))]

    def one(*args, **kwargs):
        return Shape(rng, *args, **kwargs)

    for _ in range(14):  # small ones of any kind
        size = [int(rng.integers(1, 12)) for _ in range(pick(2, 2, 3))]
        kernel = [int(rng.integers(1, 6)) for _ in size]
        groups = pick(1, 1, 2, 3)
        dilated = rng.random() < 0.3
        yield one(pick(1, 2, 3), size, kernel, groups * pick(1, 2, 5), groups * pick(1, 3, 8), groups,
                  1 if dilated else [pick(1, 2, 3) for _ in size], pick(2, 3) if dilated else 1, dtype=dtype())
    for channels, outputs in ((1, 1), (1, 8), (1, 9), (3, 6), (4, 8), (2, 1), (8, 1), (9, 1), (7, 7), (9, 9)):
        # few channels: 8 results are the most for loops over several pixels
        for stride in (1, 2):
            groups = channels if outputs % channels == 0 else 1
            yield one(2, [pick(1, 5, 9), pick(15, 16, 17, 33)], [pick(1, 3, 5), pick(2, 3)], channels, outputs, groups,
                      [pick(1, 2), stride], dtype=dtype(), depthwise=groups == channels and channels > 1 and stride < 2)
    for channels, repeat in ((9, 1), (16, 1), (17, 2), (33, 1), (20, 3)):
        # one channel a group
        for stride in (1, 2):
            yield one(2, [7, pick(4, 9)], [pick(2, 3), 3], channels, channels * repeat, channels, stride, dtype=dtype(),
                      depthwise=True)
    for groups in (2, 3, 4):  # one output channel of each group, several input channels
        yield one(2, [6, 17], [3, 2], groups * 2, groups, groups, dtype=dtype())
    for outputs in (7, 64):
        for type in ("float32", "float64"):
            yield one(1, [3, 5], [1, 1], 15, outputs, padding="VALID", dtype=type)
    for channels in (15, 16, 17, 48):  # products of matrices, and strides that make none of them
        for stride in (1, 2):
            yield one(2, [9, 7], [1, 1], channels, pick(32, 64, 96), strides=stride, padding="VALID", dtype=dtype())
    for rows in ([2, 2], [4, 12], [7, 7], [15, 16], [16, 17]):
        # few windows, which read the filter in place; up to 20 tiles of them, which are copied all
        for kernel, channels in (([1, 1], 32), ([3, 3], 20), ([2, 5], 16)):
            yield one(1, rows, kernel, channels, pick(32, 64), strides=pick(1, 2), padding="SAME")
    for kernel in ([3, 5], [4, 4], [3, 3]):  # from 16 taps on oneDNN's
        yield one(1, [10, 9], kernel, pick(17, 64, 80), 64, strides=pick(1, 2))
    yield one(1, [24, 25], [3, 3], 20, 64, padding="SAME")
    for size, channels in (([7, 7], 96), ([4, 5], 32), ([14, 15], 64), ([17, 22], 32), ([8, 8], 48), ([8, 8], 128),
                           ([9, 9], 128), ([30, 29], 32)):  # Winograd's, with tiles of 2 x 2 or 4 x 4 or none
        for batch in (1, 2):
            for padding in ("SAME", "VALID"):
                yield one(batch, size, [3, 3], channels, pick(64, 128), padding=padding)
    for dilation in (2, 3):
        yield one(1, [pick(13, 14), 17], [3, 3], 32, 64, dilations=dilation, padding="SAME")
    for length in (7, 9, 11, 15):  # filters about as long as the line
        for more in (-1, 0, 1, 2, 3):
            yield one(2, [1, length], [1, length + more], 3, pick(48, 64, 128), padding="SAME")
            yield one(1, [1, length], [1, length + more], 24, 2, padding=pick("SAME", "EXPLICIT"))
    for depth in (2, 3, 5):  # filters about as deep as the volume
        for more in (-1, 0, 1, 2):
            yield one(2, [depth, 4, 4], [depth + more, 3, 3], pick(1, 16), 32, strides=[pick(1, 2), pick(1, 2), 1],
                      padding="SAME")
    for size, batch in (([60, 61], 1), ([40, 41], 3), ([40, 41], 5), ([23, 24], 4)):  # pieces of rows and of images
        for stride in (1, 2):
            yield one(batch, size, [3, 3], 12, 64, strides=stride, padding="SAME")
    yield one(8, [6, 6], [4, 4], 64, 64, padding="SAME")  # a filter's gradient as a product


ATOL = {"float32": 0.05, "float64": 1e-9, "float16": 0.5, "bfloat16": 0.5, "int32": 0}
RTOL = {"float32": 1e-6, "float64": 0, "float16": 2e-3, "bfloat16": 1e-2, "int32": 0}


def numbers(rng, shape):
    """Small integers: a term too few or too many shows, whatever the precision."""
    return rng.integers(-3, 4, shape).astype(np.float64)


def check_shape(case, s):
    rng, g, n = case.random, Geometry(s.size, s.kernel, s.strides, s.dilations, s.padding), len(s.size)
    x = numbers(rng, (s.batch, *s.size, s.channels))
    f = numbers(rng, (*s.kernel, s.channels // s.groups, s.outputs))
    dy = numbers(rng, (s.batch, *g.out, s.outputs))
    format = {"data_format": ("NCHW" if s.first else "NHWC") if n == 2 else "NDHWC"}

    def ordered(v):
        return [v[0], v[-1], *v[1:-1]] if s.first else v

    def tensor(v, dtype=s.dtype):
        return tf.cast(tf.constant(np.moveaxis(v, -1, 1) if s.first and v.ndim == 4 and v is not f else v), dtype)

    def array(t):
        v = tf.cast(t, tf.float64).numpy()
        return np.moveaxis(v, 1, -1) if s.first and t.shape.rank == 4 else v

    explicit = not isinstance(s.padding, str)
    attrs = {"strides": ordered([1, *s.strides, 1]), "dilations": ordered([1, *s.dilations, 1]), **format,
             "padding": "EXPLICIT" if explicit else s.padding}
    if explicit:
        attrs["explicit_paddings"] = [p for pair in ordered([[0, 0], *s.padding, [0, 0]]) for p in pair]
    raw = tf.raw_ops
    if s.depthwise:
        names = "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"
    elif n == 2:
        names = "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"
    else:
        names = "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"
    convolve, by_input, by_filter = (getattr(raw, name) for name in names)
    kernel = f.reshape(*s.kernel, s.channels, s.outputs // s.channels) if s.depthwise else f
    kernel_tensor = tf.cast(tf.constant(kernel), s.dtype)
    x_shape = ordered([s.batch, *s.size, s.channels])
    tolerance = {"atol": ATOL[s.dtype], "rtol": RTOL[s.dtype]}
    y = convolve(input=tensor(x), filter=kernel_tensor, **attrs)
    case.check(array(y), forward(g, x, f), f"forward {s}", **tolerance)
    dx, df = gradients(g, x, f, dy)
    got = by_input(input_sizes=x_shape, filter=kernel_tensor, out_backprop=tensor(dy), **attrs)
    case.check(array(got), dx, f"input gradient {s}", **tolerance)
    got = by_filter(input=tensor(x), filter_sizes=kernel.shape, out_backprop=tensor(dy), **attrs)
    case.check(tf.cast(got, tf.float64).numpy().reshape(df.shape), df, f"filter gradient {s}", **tolerance)


def check_not_finite(case):
    """What is not finite stays where it is, whatever multiplies it."""
    for channels, outputs, groups in ((32, 64, 1), (2, 2, 2)):
        x, f = np.ones((1, 16, 17, channels)), np.ones((3, 3, channels // groups, outputs))
        g = Geometry([16, 17], [3, 3], [1, 1], [1, 1], "SAME")
        x[0, 2, 3, 0] = np.inf
        attrs = {"strides": [1] * 4, "padding": "SAME"}
        y = tf.raw_ops.Conv2D(input=tf.constant(x, tf.float32), filter=tf.constant(f, tf.float32), **attrs)
        case.check(y, forward(g, x, f), "infinite pixel")
        if groups == 1:
            continue
        x[:], f[0, 0] = 1, np.inf
        kernel = tf.constant(f.reshape(3, 3, 2, 1), tf.float32)
        dx = tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=x.shape, filter=kernel, out_backprop=tf.constant(x, tf.float32), **attrs)
        case.check(dx, gradients(g, x, f, x)[0], "infinite weight")


ACTIVATIONS = {"Relu": lambda y: np.maximum(y, 0), "Relu6": lambda y: np.clip(y, 0, 6),
               "Elu": lambda y: np.where(y < 0, np.expm1(np.minimum(y, 0)), y),
               "LeakyRelu": lambda y: np.where(y < 0, 0.2 * y, y)}
FUSED = [([5, 6], [1, 1], 16), ([14, 14], [3, 3], 32), ([7, 30], [5, 4], 6), ([3, 3], [2, 2], 2), ([6, 6], [3, 3], 20)]


def fused_conv2d(x, f, bias, activation):
    """_FusedConv2D, which graphs of TensorFlow's optimiser hold with all activations."""
    definition = tf.compat.v1.GraphDef()
    for name, value in (("x", x), ("f", f), ("bias", bias)):
        node = definition.node.add(name=name, op="Const")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.float32))
    node = definition.node.add(name="y", op="_FusedConv2D", input=["x", "f", "bias"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["TArgs"].list.type.append(tf.float32.as_datatype_enum)
    node.attr["num_args"].i = 1
    node.attr["strides"].list.i.extend([1] * 4)
    node.attr["padding"].s = b"SAME"
    node.attr["fused_ops"].list.s.extend([b"BiasAdd", activation.encode()])
    node.attr["leakyrelu_alpha"].f = 0.2
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.import_graph_def(definition, name="")
        return session.run("y:0")


@branches("convolution/tiles/epilogue")
def test_epilogues(case):
    for size, kernel, channels in FUSED:
        g = Geometry(size, kernel, [1, 1], [1, 1], "SAME")
        x, f = numbers(case.random, (1, *size, channels)), numbers(case.random, (*kernel, channels, 64))
        bias, y = numbers(case.random, 64), forward(g, x, f)
        alone = tf.nn.conv2d(tf.constant(x, tf.float32), tf.constant(f, tf.float32), 1, "SAME")
        case.check(alone, y, f"alone {size}", 1e-6, 0.05)
        for name, reference in ACTIVATIONS.items():
            case.check(fused_conv2d(x, f, bias, name), reference(y + bias), f"{name} {size}", 1e-6, 0.05)


def fused_step(variable, bias):
    return tf.function(lambda x: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, variable, 1, "SAME"), bias)))


@branches("convolution/kept_filter")
def test_filters_that_stay_the_same_and_change(case):
    for size, kernel, channels in FUSED:
        g = Geometry(size, kernel, [1, 1], [1, 1], "SAME")
        x, f = numbers(case.random, (1, *size, channels)), numbers(case.random, (*kernel, channels, 64))
        bias, image, variable = numbers(case.random, 64), tf.constant(x, tf.float32), tf.Variable(f, dtype=tf.float32)
        step = fused_step(variable, tf.constant(bias, tf.float32))
        for _ in range(3):
            case.check(step(image), np.maximum(forward(g, x, f) + bias, 0), f"kept {size}", 1e-6, 0.05)
        for more in (1, 2):
            variable.assign(variable + 1)
            y = np.maximum(forward(g, x, f + more) + bias, 0)
            case.check(step(image), y, f"changed {size}", 1e-6, 0.05)


@branches("convolution/forward", "convolution/input_gradient", "convolution/filter_gradient", "convolution/tiles",
          "convolution/tiles/windows", "convolution/tiles/filter", "convolution/winograd",
          "convolution/winograd/filter", "convolution/thin", "convolution/depthwise", "convolution/onednn:too small",
          "convolution/onednn:no plan", "convolution/onednn:one piece", "convolution/onednn:pieces of images",
          "convolution/onednn:pieces of rows", "convolution/onednn/filter_gradient", "windows/channels")
def test_convolutions_and_gradients(case):
    for s in shapes(case.random):
        check_shape(case, s)
    check_not_finite(case)


@branches("convolution/forward:windows")
def without_onednn(case):
    for s in shapes(case.random):
        if s.dtype == "float32":
            check_shape(case, s)


def test_without_onednn():
    process = branch_testing._Process(__file__, {"PENSTOCK_ONEDNN": "0"})
    found = process.run("without_onednn")
    assert not found["error"], found["error"]
    assert found["counts"]["convolution/onednn"]["no module"] > 0
