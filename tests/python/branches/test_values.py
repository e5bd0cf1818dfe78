"""Kernels whose loops run in blocks and tails: functions, casts, choices, images, random numbers, updates."""
import math

import ml_dtypes
import numpy as np
import penstock.v2 as tf
from branch_testing import branches

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64]
LENGTHS = list(range(0, 20)) + [31, 32, 33, 47, 63, 64, 65, 127, 129, 255, 256, 257, 511, 513, 1023, 1025, 40001]
DIGITS = {np.float32: 3e-6, np.float64: 3e-14, np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}


@branches()
def test_functions(case):
    """Each function with a loop, at each length and from each start within a vector."""
    each = np.vectorize
    functions = {
        tf.math.negative: np.negative, tf.abs: np.abs, tf.square: np.square, tf.exp: np.exp, tf.tanh: np.tanh,
        tf.sigmoid: lambda x: 1 / (1 + np.exp(-x)), tf.math.erf: each(math.erf, [float]), tf.sin: np.sin,
        tf.math.erfc: each(math.erfc, [float]), tf.cos: np.cos, tf.math.expm1: np.expm1, tf.floor: np.floor,
        tf.math.ceil: np.ceil, tf.math.rint: np.rint, tf.nn.softplus: lambda x: np.logaddexp(x, 0), tf.sign: np.sign,
        tf.tan: np.tan, tf.atan: np.arctan, tf.sinh: np.sinh, tf.cosh: np.cosh, tf.asinh: np.arcsinh,
        tf.nn.elu: lambda x: np.where(x > 0, x, np.expm1(x)), tf.nn.relu: lambda x: np.maximum(x, 0)}
    positive = {tf.sqrt: np.sqrt, tf.math.rsqrt: lambda x: 1 / np.sqrt(x), tf.math.reciprocal: lambda x: 1 / x,
                tf.math.log: np.log, tf.math.log1p: np.log1p, tf.acosh: np.arccosh,
                tf.math.lgamma: each(math.lgamma, [float])}
    for dtype in FLOATS:
        for n in LENGTHS if dtype is np.float32 else LENGTHS[::4]:
            x = case.floats(n).astype(dtype)
            exact, digits = x.astype(np.float64), DIGITS[dtype]
            for op, f in functions.items():
                case.check(op(tf.constant(x)), f(exact), f"{f} {np.dtype(dtype)} {n}", digits, digits)
            for op, f in positive.items():
                y = np.abs(x) + dtype(0.25)
                if op is tf.acosh:
                    y = y + dtype(1)
                case.check(op(tf.constant(y)), f(y.astype(np.float64)), f"{f} {np.dtype(dtype)} {n}", digits, digits)
        special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 5, -5] * 5, dtype)
        for op, f in functions.items():
            if op in (tf.sin, tf.cos, tf.tan, tf.nn.relu):
                continue
            with np.errstate(all="ignore"):
                case.check(op(tf.constant(special)), f(special.astype(np.float64)), f"{f} {np.dtype(dtype)}", digits,
                           digits)


@branches()
def test_casts(case):
    types = FLOATS + INTEGERS + [bool, np.complex64, np.complex128]
    for a in types:
        for b in types:
            for n in (0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 255, 256, 257, 1000):
                x = case.random.integers(0, 100, n)
                if np.dtype(a).kind in "fV":
                    x = x + case.random.integers(0, 4, n) / 4
                if np.dtype(a).kind not in "ub" and np.dtype(b).kind not in "ub":
                    x = -x
                x = x.astype(a)
                exact = x.real if np.dtype(a).kind == "c" and np.dtype(b).kind not in "cb" else x
                with np.errstate(all="ignore"):
                    what = f"{np.dtype(a)} to {np.dtype(b)}, {n}"
                    case.check(tf.cast(tf.constant(x), b), exact.astype(b), what, 0, 0)


@branches()
def test_choices(case):
    for dtype in FLOATS + INTEGERS + [np.complex128, bool]:
        for n in (0, 1, 15, 16, 17, 63, 65, 1023, 1024, 1025, 3000):
            c = case.random.random(n) < 0.5
            a, b = (case.random.integers(0, 5, n).astype(dtype) for _ in range(2))
            case.check(tf.where(c, a, b), np.where(c, a, b), f"{np.dtype(dtype)} {n}", 0, 0)
            for cs, xs, ys in [((n, 1), (1, 3), ()), ((3, 1), (n,), (3, n)), ((), (n,), (n,)), ((1, n), (2, 1), (1,))]:
                c = case.random.random(cs) < 0.5
                x, y = (case.random.integers(0, 5, s).astype(dtype) for s in (xs, ys))
                case.check(tf.where(c, x, y), np.where(c, x, y), f"{np.dtype(dtype)} {cs} {xs} {ys}", 0, 0)
            if dtype is not bool and dtype is not np.complex128:
                low, high = dtype(1), dtype(3)
                case.check(tf.clip_by_value(a, low, high), np.clip(a, low, high), f"{np.dtype(dtype)} {n}", 0, 0)
                case.check(tf.clip_by_value(a, np.minimum(a, b), np.maximum(a, b)), a, f"{np.dtype(dtype)} {n}", 0, 0)


def resized(x, height, width, corners):
    """Bilinear, of half-pixel centres or of aligned corners."""
    def places(size, new):
        at = np.arange(new) * (size - 1) / max(new - 1, 1) if corners else (np.arange(new) + 0.5) * size / new - 0.5
        low = np.floor(at)
        return np.clip(low, 0, size - 1).astype(int), np.clip(low + 1, 0, size - 1).astype(int), at - low
    top, bottom, part = places(x.shape[1], height)
    rows = x[:, top] + (x[:, bottom] - x[:, top]) * part[:, None, None]
    left, right, part = places(x.shape[2], width)
    return rows[:, :, left] + (rows[:, :, right] - rows[:, :, left]) * part[:, None]


@branches("resize/pixel", "resize/line", "local_response_normalization/power")
def test_images(case):
    for channels in (1, 2, 3, 4, 5, 17):
        for (h, w), (nh, nw) in [((1, 1), (3, 4)), ((4, 5), (4, 5)), ((4, 5), (9, 3)), ((7, 7), (1, 1)),
                                 ((5, 3), (2, 8)), ((16, 17), (33, 5))]:
            for dtype in (np.float32, np.uint8, np.float16):
                x = case.random.integers(0, 200, (2, h, w, channels)).astype(dtype)
                wide = x.astype(np.float64)
                for corners in (False, True):
                    case.check(tf.raw_ops.ResizeBilinear(images=x, size=[nh, nw], align_corners=corners,
                                                         half_pixel_centers=not corners),
                               resized(wide, nh, nw, corners), f"{x.shape} to {nh} x {nw} {corners}", 1e-4, 1e-2)
                rows = np.minimum((np.arange(nh) + 0.5) * h / nh, h - 1).astype(int)
                columns = np.minimum((np.arange(nw) + 0.5) * w / nw, w - 1).astype(int)
                case.check(tf.raw_ops.ResizeNearestNeighbor(images=x, size=[nh, nw], half_pixel_centers=True),
                           x[:, rows][:, :, columns], f"{x.shape} to {nh} x {nw}", 0, 0)
            x = case.floats(2, h, w, channels)
            for radius, beta in [(0, 0.5), (1, 1.0), (2, 0.75), (30, 0.5)]:
                around = [x[..., max(0, c - radius):c + radius + 1] for c in range(channels)]
                squares = np.stack([np.square(part).sum(-1) for part in around], -1)
                case.check(tf.nn.local_response_normalization(x, radius, 1.0, 0.5, beta),
                           x / (1 + 0.5 * squares.astype(np.float64)) ** beta, f"{x.shape} {radius} {beta}", 1e-5, 1e-5)


@branches()
def test_random_numbers(case):
    """Fewer numbers are the first of more, whatever the number of threads."""
    seed = [3, 4]
    draws = [lambda n, t: tf.random.stateless_uniform([n], seed, dtype=t),
             lambda n, t: tf.random.stateless_normal([n], seed, dtype=t),
             lambda n, t: tf.random.stateless_truncated_normal([n], seed, dtype=t)]
    for draw in draws:
        for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
            many = draw(70001, dtype).numpy()
            for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 259, 1023, 4097, 70000):
                case.check(draw(n, dtype), many[:n], f"{dtype} {n}", 0, 0)
    for dtype in (tf.int32, tf.int64):
        many = tf.random.stateless_uniform([5001], seed, -7, 1000, dtype).numpy()
        assert many.min() == -7 and many.max() == 999
        for n in (0, 1, 3, 4, 5, 257, 5000):
            case.check(tf.random.stateless_uniform([n], seed, -7, 1000, dtype), many[:n], f"{dtype} {n}", 0, 0)


@branches()
def test_updates_of_variables(case):
    for dtype in FLOATS[:2] + INTEGERS[4:6]:
        for rows, width, count in [(1, 1, 1), (5, 3, 7), (5, 1, 0), (40, 33, 90), (7, 1000, 300), (3000, 17, 4000)]:
            start = case.random.integers(0, 9, (rows, width)).astype(dtype)
            at = case.random.integers(0, rows, count)
            by = case.random.integers(1, 4, (count, width)).astype(dtype)
            for name, f in [("scatter_add", np.add), ("scatter_sub", np.subtract), ("scatter_max", np.maximum),
                            ("scatter_min", np.minimum)]:
                v, want = tf.Variable(start), start.copy()
                getattr(v, name)(tf.IndexedSlices(by, at))
                f.at(want, at, by)
                case.check(v, want, f"{name} {np.dtype(dtype)} {rows} x {width}, {count}", 0, 0)
            v, want = tf.Variable(start), start.copy()
            v.scatter_nd_add(at[:, None], by)
            np.add.at(want, at, by)
            case.check(v, want, f"nd {np.dtype(dtype)} {rows} x {width}, {count}", 0, 0)
            v, want = tf.Variable(start), start.copy()
            v.scatter_update(tf.IndexedSlices(by[:1], at[:1]))
            want[at[:1]] = by[:1]
            case.check(v, want, f"update {np.dtype(dtype)} {rows} x {width}, {count}", 0, 0)
