"""Data that is moved: transposed, cut, joined, repeated, padded, picked."""
import itertools

import numpy as np
import penstock.v2 as tf
from branch_testing import branches

DTYPES = [np.uint8, np.int16, np.float32, np.float64, np.complex128, object]
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65]


def values(case, dtype, *shape):
    numbers = case.random.integers(1, 120, shape)
    if dtype is object:
        return np.array([b"a" * (n % 30) for n in numbers.ravel()] + [None], object)[:-1].reshape(shape)
    return numbers.astype(dtype)


def shape_of(case, rank, most=20000):
    while True:
        shape = [int(case.pick(SIZES)) for _ in range(rank)]
        if np.prod(shape) <= most:
            return shape


def check(case, actual, expected, what):
    actual = actual.numpy()
    if expected.dtype == object:
        assert actual.shape == expected.shape, what
        actual, expected = np.array(actual, object), np.array(expected, object)
    case.check(actual, expected, what, 0, 0)


@branches("copy/box:turned", "copy/box:lines", "copy/run", "copy/line:dense", "copy/line:strided")
def test_transpose(case):
    for dtype in DTYPES:
        for _ in range(40):
            shape = shape_of(case, int(case.random.integers(1, 6)))
            order = case.random.permutation(len(shape))
            x = values(case, dtype, *shape)
            check(case, tf.transpose(x, order), x.transpose(order), f"{dtype} {shape} {order}")
        for shape, order in [((0, 3), (1, 0)), ((300, 400), (1, 0)), ((3, 2), (1, 0)), ((4, 4), (1, 0)),
                             ((4, 3), (1, 0)), ((65, 129), (1, 0)), ((5, 7, 2), (1, 0, 2)), ((130, 3, 66), (2, 0, 1))]:
            x = values(case, dtype, *shape)
            check(case, tf.transpose(x, order), x.transpose(order), f"{dtype} {shape} {order}")


@branches("copy/line", "copy/box:lines", "copy/box:one element", "slice/way", "strided_slice/way")
def test_slices(case):
    for dtype in DTYPES:
        for _ in range(60):
            shape = shape_of(case, int(case.random.integers(1, 5)))
            x = tf.identity(values(case, dtype, *shape))
            begin = [int(case.random.integers(0, n + 1)) for n in shape]
            size = [int(case.random.integers(0, n - b + 1)) for n, b in zip(shape, begin)]
            if case.random.integers(3) == 0:  # whole rows
                begin[1:], size[1:] = [0] * (len(shape) - 1), shape[1:]
            if case.random.integers(6) == 0:
                begin, size = [0] * len(shape), shape
            part = tuple(slice(b, b + s) for b, s in zip(begin, size))
            check(case, tf.slice(x, begin, size), x.numpy()[part], f"{dtype} {shape} slice {begin} {size}")
            index = tuple(case.pick([slice(b, b + s), slice(None), slice(None, None, -1), slice(None, None, 2),
                                     slice(b, None, 3), slice(None, b, -2), slice(n - 1, b, -1)])
                          for n, b, s in zip(shape, begin, size))
            if case.random.integers(6) == 0:
                index = tuple(int(case.random.integers(n)) for n in shape)
            check(case, x[index], np.asarray(x.numpy()[index]), f"{dtype} {shape} {index}")
            axes = [i for i in range(len(shape)) if case.random.integers(2)]
            check(case, tf.reverse(x, np.int32(axes)), np.flip(x.numpy(), axes), f"{dtype} {shape} reverse {axes}")
            shift = [int(v) for v in case.random.integers(-9, 10, len(axes))]
            check(case, tf.roll(x, np.int32(shift), np.int32(axes)), np.roll(x.numpy(), shift, axes),
                  f"{dtype} {shape} {axes} {shift}")
    for rows, width in [(40, 16), (40, 15), (64, 1)]:  # rows that start at a multiple of 64 bytes, or not
        x = tf.identity(values(case, np.float32, rows, width))
        for begin in (0, 1, 15, 16, 17):
            check(case, tf.slice(x, [begin, 0], [20, -1]), x.numpy()[begin:begin + 20], f"{rows} {width} {begin}")
            check(case, x[begin:begin + 20], x.numpy()[begin:begin + 20], f"{rows} {width} {begin}")
    y = values(case, np.float32, 7, 9)
    with tf.GradientTape() as tape:
        x = tf.constant(y)
        tape.watch(x)
        z = tf.reduce_sum(x[1::2, ::-3] * 2)
    want = np.zeros_like(y)
    want[1::2, ::-3] = 2
    check(case, tape.gradient(z, x), want, "gradient of a slice")


@branches("concat/join", "concat/way", "split/part")
def test_concat_and_split(case):
    for dtype in DTYPES:
        for _ in range(30):
            shape = shape_of(case, int(case.random.integers(1, 4)), 3000)
            axis, n = int(case.random.integers(len(shape))), int(case.pick([1, 2, 3, 7, 8, 9]))
            parts = [values(case, dtype, *shape[:axis], int(case.pick([0, 1, 2, 5, shape[axis]])), *shape[axis + 1:])
                     for _ in range(n)]
            whole = np.concatenate(parts, axis)
            what = f"{dtype} {[p.shape for p in parts]} axis {axis}"
            check(case, tf.concat(parts, axis), whole, what)
            for got, want in zip(tf.split(tf.identity(whole), [p.shape[axis] for p in parts], axis), parts):
                check(case, got, want, what)
            same = [values(case, dtype, *shape) for _ in range(n)]
            for at in range(len(shape) + 1):
                stacked = np.stack(same, at)
                check(case, tf.stack(same, at), stacked, f"{dtype} {n} x {shape} at {at}")
                for got, want in zip(tf.unstack(tf.identity(stacked), axis=at), same):
                    check(case, got, want, f"{dtype} {n} x {shape} unstacked at {at}")
    for n, size in [(7, 5), (8, 5), (9, 4000)]:
        same = [values(case, np.float32, size) for _ in range(n)]
        check(case, tf.concat(same, 0), np.concatenate(same), f"{n} of {size}")
        for got, want in zip(tf.split(tf.identity(np.concatenate(same)), n), same):
            check(case, got, want, f"{n} of {size}")


@branches("copy/box:repeated block", "pad/way", "one_hot/way")
def test_repeated(case):
    for dtype in DTYPES:
        for _ in range(40):
            shape = shape_of(case, int(case.random.integers(1, 4)), 1000)
            x = values(case, dtype, *shape)
            times = [int(case.pick([0, 1, 2, 3, 17])) if i else int(case.pick([1, 2, 300])) for i in range(len(shape))]
            if np.prod(shape) * np.prod(times) < 200000:
                check(case, tf.tile(x, times), np.tile(x, times), f"{dtype} {shape} x {times}")
            wanted = [int(case.pick([2, 5])) for _ in range(case.random.integers(3))] + shape
            narrow = values(case, dtype, *[1 if case.random.integers(2) else n for n in shape])
            check(case, tf.broadcast_to(narrow, wanted), np.broadcast_to(narrow, wanted), f"{narrow.shape} to {wanted}")
            pads = case.random.integers(0, 4, (len(shape), 2)) * (case.random.integers(0, 3, (len(shape), 1)) > 0)
            value = values(case, dtype)[()] if dtype is not object else b"x"
            want = np.full([n + sum(p) for n, p in zip(shape, pads)], value, dtype)
            want[tuple(slice(p[0], p[0] + n) for n, p in zip(shape, pads))] = x
            check(case, tf.pad(x, pads, constant_values=value), want, f"{dtype} {shape} padded {pads.tolist()}")
            if dtype is not object:
                for mode, least in (("symmetric", 0), ("reflect", 1)):
                    fits = np.minimum(pads, np.array(shape)[:, None] - least)
                    check(case, tf.pad(x, fits, mode), np.pad(x, fits, mode), f"{shape} {mode} {fits.tolist()}")
        check(case, tf.pad(values(case, dtype, 0, 2), [[2, 1], [0, 1]]),
              np.full((3, 3), b"" if dtype is object else 0, dtype), "padded, of no elements")
    for shape in [(), (1,), (5,), (3, 7), (2, 0)]:
        for depth in (0, 1, 5, 40):
            for axis in range(-1, len(shape) + 1):
                at = case.random.integers(-1, depth + 1, shape)
                want = np.where(np.expand_dims(at, axis) == np.arange(depth).reshape(
                    [-1 if i == (axis if axis >= 0 else len(shape)) else 1 for i in range(len(shape) + 1)]), 3, 7)
                for dtype in (np.float32, np.int8, np.complex128):
                    check(case, tf.one_hot(at, depth, dtype(3), dtype(7), axis), want.astype(dtype),
                          f"{shape} {depth} {axis}")


@branches("gather/width")
def test_gather(case):
    for dtype in DTYPES + [np.float16]:
        for width in (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 17, 65):
            for batch, index in itertools.product((0, 1), (np.int16, np.int32, np.int64)):
                x = values(case, dtype, 3, 7, width)
                if width == 1 and case.random.integers(2):
                    x = x[..., 0]
                at = case.random.integers(0, 7, (3, int(case.pick([0, 1, 5, 20])))).astype(index)
                want = np.stack([p[i] for p, i in zip(x, at)]) if batch else np.take(x, at, 1)
                got = tf.raw_ops.GatherV2(params=x, indices=at, axis=np.int32(1), batch_dims=batch) \
                    if index != np.int16 else tf.raw_ops.GatherV2(params=x, indices=at.astype(np.int32),
                                                                  axis=np.int32(1), batch_dims=batch)
                check(case, got, want, f"{dtype} {x.shape} {at.shape} {batch}")
            at = np.stack([case.random.integers(0, 3, 6), case.random.integers(0, 7, 6)], 1)
            check(case, tf.gather_nd(x, at), x[tuple(at.T)], f"{dtype} {x.shape} nd")
            if dtype is not object:
                updates = values(case, dtype, *x[tuple(at.T)].shape)
                want = np.zeros_like(x)
                np.add.at(want, tuple(at.T), updates)
                check(case, tf.scatter_nd(at, updates, x.shape), want, f"{dtype} {x.shape} scattered")
                want = x.copy()
                want[at[0, 0], at[0, 1]] = updates[0]
                check(case, tf.tensor_scatter_nd_update(x, at[:1], updates[:1]), want, f"{dtype} {x.shape} updated")
    for n in (0, 1, 9, 16383, 16384, 16385, 40000):
        x = case.random.random(n) < 0.3
        check(case, tf.where(x), np.argwhere(x), f"where of {n}")
        if n % 5 == 0 and n:
            check(case, tf.where(x.reshape(-1, 5)), np.argwhere(x.reshape(-1, 5)), f"where of {n} in rows of 5")
