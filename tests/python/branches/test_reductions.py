"""Reductions along axes, running ones, by segment, counts, orders."""
import itertools

import ml_dtypes
import numpy as np
import penstock.v2 as tf
from branch_testing import branches

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]


def values(case, dtype, shape):
    kind = np.dtype(dtype).kind
    x = case.random.integers(0 if kind == "u" else -3, 4, shape)
    return (x + 1j * case.random.integers(-3, 4, shape) if kind == "c" else x).astype(dtype)


def wide(dtype):
    kind = np.dtype(dtype).kind
    return np.complex128 if kind == "c" else np.int64 if kind in "iu" else np.float64


@branches("reduce/inner", "reduce/middle", "reduction/way")
def test_reduce(case):
    shapes = [(0,), (1,), (5,), (3, 0), (0, 3), (1, 1, 1), (4, 1, 3), (32767,), (32768,), (32769,), (7, 32769),
              (8, 32769), (40000, 3), (17, 63), (15, 63), (16, 64), (16, 65), (65, 64), (64, 64), (1025, 100),
              (3, 70, 5), (3, 33, 4097), (2, 3, 4, 5),
              (5, 16, 63), (5, 1040, 63), (300000, 1), (266000, 2), (2, 100, 4096)]
    for shape in shapes:
        for axes in itertools.chain.from_iterable(itertools.combinations(range(len(shape)), r)
                                                  for r in range(len(shape) + 1)):
            small = np.prod(shape) < 5000
            for dtype in FLOATS + INTEGERS + COMPLEX if small else [case.pick(FLOATS + INTEGERS + COMPLEX), np.float32]:
                # Sums that float16 holds exactly, up to rounding once.
                x = values(case, dtype, shape)
                if case.random.integers(4) == 0 and np.dtype(dtype).kind in "f" and x.size:
                    x.flat[case.random.integers(x.size)] = case.pick([np.nan, np.inf, -np.inf])
                what, y = f"{np.dtype(dtype)} {shape} over {axes}", x.astype(wide(dtype))
                with np.errstate(all="ignore"):
                    case.check(tf.raw_ops.Sum(input=x, axis=np.int32(axes)), y.sum(axes).astype(dtype), "sum " + what,
                               1e-5 if x.dtype.itemsize > 2 else 1e-2)
                    if np.dtype(dtype).kind != "c" and 0 not in [shape[a] for a in axes]:
                        for op, f in [(tf.raw_ops.Max, np.max), (tf.raw_ops.Min, np.min)]:
                            case.check(op(input=x, axis=np.int32(axes), keep_dims=True),
                                       f(y, axes, keepdims=True).astype(dtype), f"{f.__name__} {what}", 0, 0)
                    if np.dtype(dtype).kind not in "iu" and 0 not in [shape[a] for a in axes]:
                        case.check(tf.raw_ops.Mean(input=x, axis=np.int32(axes)), y.mean(axes).astype(dtype),
                                   "mean " + what, 1e-5 if x.dtype.itemsize > 2 else 1e-2)
            truth = case.random.random(shape) < (0.9 if case.random.integers(2) else 0.1)
            case.check(tf.raw_ops.All(input=truth, axis=np.int32(axes)), truth.all(axes), f"all {shape} {axes}")
            case.check(tf.raw_ops.Any(input=truth, axis=np.int32(axes)), truth.any(axes), f"any {shape} {axes}")


@branches("arg_extreme/axis")
def test_arg_extremes(case):
    for shape in [(1,), (7,), (8,), (9,), (15,), (16,), (17,), (33,), (500,), (3, 257), (257, 3), (2, 5, 256),
                  (2, 5, 257), (4, 31, 2)]:
        for dtype in FLOATS + INTEGERS + [bool]:
            x = values(case, dtype, shape)
            for axis in range(len(shape)):
                case.check(tf.raw_ops.ArgMax(input=x, dimension=axis), np.argmax(x.astype(np.float64), axis),
                           f"argmax {np.dtype(dtype)} {shape} {axis}")
                case.check(tf.raw_ops.ArgMin(input=x, dimension=axis), np.argmin(x.astype(np.float64), axis),
                           f"argmin {np.dtype(dtype)} {shape} {axis}")


@branches("scan/axis")
def test_scans(case):
    for shape in [(1,), (9,), (0, 3), (3, 0), (3, 17), (4, 17), (5, 17), (9, 2), (3, 5, 1023), (3, 5, 1025), (2, 3, 4)]:
        for dtype in FLOATS + INTEGERS + COMPLEX:
            x = values(case, dtype, shape)
            for axis, exclusive, reverse in itertools.product(range(len(shape)), (False, True), (False, True)):
                # Products of units do not overflow.
                units = np.where(x.real > 0, 1, -1).astype(dtype)
                for op, f, start, v in [(tf.raw_ops.Cumsum, np.cumsum, 0, x),
                                        (tf.raw_ops.Cumprod, np.cumprod, 1, units)]:
                    y = (np.flip(v, axis) if reverse else v).astype(wide(dtype))
                    want = f(y, axis)
                    if exclusive:
                        first = np.full_like(np.take(want, [0], axis), start) if y.shape[axis] else want
                        want = np.concatenate([first, np.take(want, range(y.shape[axis] - 1), axis)], axis) \
                            if y.shape[axis] else want
                    want = (np.flip(want, axis) if reverse else want).astype(dtype)
                    case.check(op(x=v, axis=axis, exclusive=exclusive, reverse=reverse), want,
                               f"{f.__name__} {np.dtype(dtype)} {shape} {axis} {exclusive} {reverse}",
                               1e-5 if x.dtype.itemsize > 2 else 1e-2)


@branches("segment/rows", "segment/order")
def test_segments(case):
    for inner in (1, 3, 7, 8, 9, 17, 40, 200, 1000):
        for count in (0, 1, 2, 50, 700):
            for dtype in [np.float32, case.pick(FLOATS), case.pick(INTEGERS), case.pick(COMPLEX)]:
                rows = int(case.random.integers(1, 9))
                ids = case.random.integers(-1, rows, count).astype(np.int32)
                if case.random.integers(2):
                    ids = np.sort(ids)
                x, what = values(case, dtype, (count, inner)), f"{np.dtype(dtype)} {count} x {inner} to {rows}"
                want = np.zeros((rows, inner), wide(dtype))
                np.add.at(want, ids[ids >= 0], x[ids >= 0])
                case.check(tf.math.unsorted_segment_sum(x, ids, rows), want.astype(dtype), "unsorted sum " + what,
                           1e-5 if x.dtype.itemsize > 2 else 1e-2)
                if x.dtype.kind != "c":
                    limits = np.finfo if x.dtype.kind == "f" else ml_dtypes.finfo if x.dtype.kind == "V" else np.iinfo
                    for op, f, empty in [(tf.math.unsorted_segment_max, np.maximum, limits(dtype).min),
                                         (tf.math.unsorted_segment_min, np.minimum, limits(dtype).max)]:
                        want = np.full((rows, inner), empty, dtype)
                        f.at(want, ids[ids >= 0], x[ids >= 0])
                        case.check(op(x, ids, rows), want, f"{f.__name__} {what}", 0, 0)
                at = np.sort(np.abs(ids))
                want = np.zeros(((int(at[-1]) + 1) if count else 0, inner), wide(dtype))
                np.add.at(want, at, x)
                case.check(tf.math.segment_sum(x, at), want.astype(dtype), "sum " + what,
                           1e-5 if x.dtype.itemsize > 2 else 1e-2)
                if x.dtype.kind == "f" and count:
                    picked = case.random.integers(0, count, count).astype(np.int32)
                    want = np.zeros((int(at[-1]) + 1, inner))
                    np.add.at(want, at, x[picked])
                    case.check(tf.sparse.segment_sum(x, picked, at), want.astype(dtype), "sparse sum " + what,
                               1e-5 if x.dtype.itemsize > 2 else 1e-2)
                    many = np.bincount(at).reshape(-1, 1)
                    case.check(tf.sparse.segment_mean(x, picked, at), (want / np.maximum(many, 1)).astype(dtype),
                               "sparse mean " + what, 1e-5 if x.dtype.itemsize > 2 else 1e-2)


@branches("histogram/pieces", "bucketize/boundaries")
def test_counts(case):
    for n in (0, 1, 255, 256, 257, 16384, 32767, 32768, 40000):
        for bins in (1, 5, 100, 70000):
            x = case.random.integers(0, 100, n).astype(np.float32)
            want = np.histogram(x, bins, (0, 100))[0] if bins in (1, 5, 100) else None
            if want is not None:
                case.check(tf.histogram_fixed_width(x, [0., 100.], bins), want, f"{n} in {bins} bins")
            else:
                assert np.sum(tf.histogram_fixed_width(x, [0., 100.], bins)) == n
        for count in (0, 1, 31, 32, 33, 60):
            edges = sorted(case.random.integers(0, 100, count).astype(float))
            for dtype in (np.float32, np.float64, np.int32, np.int64):
                x = case.random.integers(-2, 103, n % 1000).astype(dtype)
                case.check(tf.raw_ops.Bucketize(input=x, boundaries=edges), np.searchsorted(edges, x, "right"),
                           f"{np.dtype(dtype)} {n} {count}")


@branches("top_k/row")
def test_top_k(case):
    for dtype in FLOATS + INTEGERS:
        for n in (1, 2, 31, 32, 33, 40, 64, 255, 256, 257, 511, 512, 513):
            for k in sorted({0, 1, 2, n // 8, n // 8 + 1, n // 4, n // 4 + 1, n - 1, n, 64, 65}):
                if not 0 <= k <= n:
                    continue
                x = values(case, dtype, (2, n)) if case.random.integers(2) else \
                    case.random.integers(0, 100, (2, n)).astype(dtype)
                if case.random.integers(6) == 0 and x.dtype.kind == "f":
                    x[0, :] = -np.inf
                order = np.argsort(-x.astype(np.float64), -1, kind="stable")[:, :k]
                got = tf.math.top_k(x, k)
                case.check(got.indices, order, f"{np.dtype(dtype)} {k} of {n}")
                case.check(got.values, np.take_along_axis(x, order, -1), f"{np.dtype(dtype)} {k} of {n}", 0, 0)
    for dtype in (np.float32, np.float64, np.int64, np.float16):
        for n in (16383, 16384, 16385):
            x = values(case, dtype, (1, n)) * dtype(100)
            order = np.argsort(-x.astype(np.float64), -1, kind="stable")
            case.check(tf.math.top_k(x, n).indices, order, f"{np.dtype(dtype)} all of {n}")


@branches("unique/index")
def test_unique(case):
    for dtype in FLOATS + INTEGERS + COMPLEX + [bool]:
        for n in (0, 1, 2, 9, 511, 512, 513, 1500):
            for spread in (1, 2, 1023, 1024, 1025, 3000):
                x = case.random.integers(0, spread + 1, n).astype(dtype)
                if n and case.random.integers(2):
                    x[-1] = np.array(spread).astype(dtype)
                _, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
                order = np.argsort(first)
                rank = np.argsort(order)
                got = tf.unique_with_counts(x)
                case.check(got.y, x[np.sort(first)], f"{np.dtype(dtype)} {n} {spread}", 0, 0)
                case.check(got.idx, rank[inverse], f"{np.dtype(dtype)} {n} {spread}")
                case.check(got.count, counts[order], f"{np.dtype(dtype)} {n} {spread}")
