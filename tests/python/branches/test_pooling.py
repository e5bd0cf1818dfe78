"""All ways in which pools and their gradients are computed, with random shapes at the borders between them."""
import numpy as np
from branch_testing import branches
from convolution_reference import Geometry

import penstock.v2 as tf

ATOL = {"float32": 1e-4, "float64": 1e-12, "float16": 2e-2, "bfloat16": 0.1, "int32": 0, "uint8": 0, "int64": 0}


def windows(g, x, value):
    """[taps, batch, windows..., channels]"""
    padded = g.padded(x, value)
    return np.stack([padded[seen] for _, seen in g.taps()])


def maximum(g, x):
    return windows(g, x, -np.inf).max(0)


def maximum_gradient(g, x, dy, all_of_them):
    """At the first of the largest elements, or at all of them."""
    seen = windows(g, x, -np.inf)
    largest = seen == seen.max(0)
    dx = np.zeros(g.padded(x).shape)
    taken = np.zeros(dy.shape, bool)
    for (_, under), here in zip(g.taps(), largest):
        dx[under] += np.where(here & ~taken, dy, 0)
        taken |= here & (not all_of_them)
    return g.inside(dx)


def counts(g, x):
    return windows(g, np.ones(x.shape), 0).sum(0)


def average(g, x):
    return windows(g, x, 0).sum(0) / counts(g, x)


def average_gradient(g, x, dy):
    dx = np.zeros(g.padded(x).shape)
    for _, under in g.taps():
        dx[under] += dy / counts(g, x)
    return g.inside(dx)


def check_shape(case, batch, size, kernel, strides, channels, padding, dtype, first):
    raw, rng, n = tf.raw_ops, case.random, len(size)
    first = first and n == 2
    g = Geometry(size, kernel, strides, [1] * n, padding)
    low, high = (0, 9) if dtype.startswith("u") else (-4, 5)
    x = rng.integers(low, high, (batch, *size, channels)).astype(float)
    dy = rng.integers(low, high, (batch, *g.out, channels)).astype(float)
    what = str((dtype, batch, size, kernel, strides, channels, padding, first))

    def ordered(v):
        return [v[0], v[-1], *v[1:-1]] if first else v

    def tensor(v):
        return tf.cast(tf.constant(np.moveaxis(v, -1, 1) if first else v), dtype)

    def close(got, expected):
        got = tf.cast(got, tf.float64).numpy()
        case.check(np.moveaxis(got, 1, -1) if first else got, expected, what, 0, ATOL[dtype])

    attrs = {"ksize": ordered([1, *kernel, 1]), "strides": ordered([1, *strides, 1]), "padding": padding,
             "data_format": ("NCHW" if first else "NHWC") if n == 2 else "NDHWC"}
    if n == 2:
        y = raw.MaxPool(input=tensor(x), **attrs)
        close(y, maximum(g, x))
        close(raw.MaxPoolGrad(orig_input=tensor(x), orig_output=y, grad=tensor(dy), **attrs),
              maximum_gradient(g, x, dy, all_of_them=False))
        if not first:
            got, at = raw.MaxPoolWithArgmax(input=tensor(x), **{k: v for k, v in attrs.items() if k != "data_format"})
            close(got, maximum(g, x))
            flat = x.reshape(batch, -1)
            chosen = np.take_along_axis(flat, at.numpy().reshape(batch, -1), 1).reshape(got.shape)
            case.check(chosen, maximum(g, x), what)
    elif "float" in dtype and dtype != "float64":
        y = raw.MaxPool3D(input=tensor(x), **attrs)
        close(y, maximum(g, x))
        close(raw.MaxPool3DGrad(orig_input=tensor(x), orig_output=y, grad=tensor(dy), **attrs),
              maximum_gradient(g, x, dy, all_of_them=True))
    if "float" in dtype:
        pool, gradient = (raw.AvgPool, raw.AvgPoolGrad) if n == 2 else (raw.AvgPool3D, raw.AvgPool3DGrad)
        name = "value" if n == 2 else "input"
        close(pool(**{name: tensor(x)}, **attrs), average(g, x))
        close(gradient(orig_input_shape=ordered([batch, *size, channels]), grad=tensor(dy), **attrs),
              average_gradient(g, x, dy))


@branches("pool/max", "pool/average", "pool/average_gradient", "windows/channels")
def test_pools(case):
    rng = case.random
    # Of up to 12 channels lines are compared first; loops take one vector or four at a time, of 4 to 16 floats.
    for channels in (1, 2, 3, 4, 5, 11, 12, 13, 15, 16, 17, 31, 33, 63, 64, 65, 130):
        for stride in (1, 2, 3):
            n = 2 + int(rng.random() < 0.3)
            size = [int(s) for s in rng.integers(1, 10 if n == 2 else 6, n)]
            kernel = [int(k) for k in rng.integers(1, 5, n)]
            strides = [int(s) for s in rng.integers(1, 4, n - 1)] + [stride]
            padding = "VALID" if rng.random() < 0.5 and all(k <= s for k, s in zip(kernel, size)) else "SAME"
            dtype = str(rng.choice(["float32"] * 5 + ["float64", "float16", "bfloat16", "int32", "uint8", "int64"]))
            check_shape(case, int(rng.integers(1, 4)), size, kernel, strides, channels, padding, dtype,
                        rng.random() < 0.2)
