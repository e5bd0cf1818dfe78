"""Data cut into parts and put together: partitions, blocks of space, sparse tensors; positions; quantized values."""
import numpy as np
import penstock.v2 as tf
from branch_testing import branches

DTYPES = [np.uint8, np.int16, np.float32, np.float64, np.complex128, object]


def values(case, dtype, *shape):
    numbers = case.random.integers(1, 120, shape)
    if dtype is object:
        return np.array([b"a" * (n % 30) for n in numbers.ravel()] + [None], object)[:-1].reshape(shape)
    return numbers.astype(dtype)


def check(case, actual, expected, what):
    actual = actual.numpy()
    if expected.dtype == object:
        assert actual.shape == expected.shape, what
        actual, expected = np.array(actual, object), np.array(expected, object)
    case.check(actual, expected, what, 0, 0)


@branches("copy/single")
def test_partition_and_stitch(case):
    for dtype in DTYPES:
        for inner in [(), (1,), (2,), (3,), (2, 2), (8,), (33,), (0,)]:
            for rows in (0, 1, 2, 17, 300):
                x = values(case, dtype, rows, *inner)
                parts = int(case.random.integers(1, 5))
                to = case.random.integers(0, parts, rows).astype(np.int32)
                what = f"{np.dtype(dtype)} {x.shape} {parts}"
                cut = tf.dynamic_partition(x, to, parts)
                for p in range(parts):
                    check(case, cut[p], x[to == p], what)
                places = [np.flatnonzero(to == p).astype(np.int32) for p in range(parts)]
                for join in (tf.dynamic_stitch, tf.raw_ops.ParallelDynamicStitch):
                    joined = join(indices=places, data=cut)
                    check(case, joined, x, what)
        many = values(case, dtype, 6, 3)  # The last of equal places counts, and those that nobody gives are zeros.
        ids = [np.int32([4, 0, 4]), np.int32([0, 2, 2])]
        found = tf.dynamic_stitch(ids, [many[:3], many[3:]])
        want = np.zeros_like(many[:5])
        want[:] = b"" if dtype is object else 0
        want[4], want[0], want[2] = many[2], many[3], many[5]
        check(case, found, want, f"{np.dtype(dtype)} equal places")


@branches()
def test_blocks_of_space(case):
    for dtype in DTYPES:
        for _ in range(40):
            dims, depth = int(case.random.integers(1, 4)), int(case.pick([1, 2, 3, 8]))
            block = case.random.integers(1, 4, dims)
            sizes = case.random.integers(1, 6, dims)
            before = case.random.integers(0, 3, dims)
            after = before + -(sizes + before * 2) % block
            n = int(case.random.integers(1, 4))
            x = values(case, dtype, n, *sizes, depth)
            filling = b"" if dtype is object else 0
            padded = np.pad(x, [(0, 0), *zip(before, after), (0, 0)], constant_values=filling)
            small = [(d // b, b) for d, b in zip(padded.shape[1:-1], block)]
            cut = padded.reshape(n, *(k for pair in small for k in pair), depth)
            order = [*range(2, 2 * dims + 1, 2), 0, *range(1, 2 * dims, 2), 2 * dims + 1]
            want = cut.transpose(order).reshape(-1, *(a for a, _ in small), depth)
            what = f"{np.dtype(dtype)} {x.shape} {block} {before} {after}"
            found = tf.raw_ops.SpaceToBatchND(input=x, block_shape=block, paddings=np.stack([before, after], 1))
            check(case, found, want, what)
            back = tf.raw_ops.BatchToSpaceND(input=found, block_shape=block, crops=np.stack([before, after], 1))
            check(case, back, x, what)


@branches("where/pieces")
def test_where(case):
    for dtype in [bool, np.uint8, np.int64, np.float32, np.complex64]:
        for shape in [(0,), (1,), (5, 0), (7,), (3, 5), (2, 3, 4), (16383,), (16384,), (16385,), (3, 11000),
                      (33, 1, 999)]:
            x = (case.random.random(shape) < 0.4).astype(dtype)
            case.check(tf.where(x), np.argwhere(x), f"{np.dtype(dtype)} {shape}", 0, 0)


@branches("copy/single:4", "copy/single:8", "copy/single:16", "copy/single:objects")
def test_sparse_tensors(case):
    """Sparse tensors against dense ones."""
    for dtype in [np.float32, np.float64, np.complex128, np.int64, object]:
        for _ in range(25):
            rank = int(case.random.integers(1, 4))
            shape = [int(n) for n in case.random.integers(1, 8, rank)]
            kept = case.random.random(shape) < case.pick([0, 0.1, 0.5, 1])
            x = values(case, dtype, *shape)
            x[~kept] = b"" if dtype is object else 0
            if dtype is object:
                kept = x != b""
            what = f"{np.dtype(dtype)} {shape}"
            given = tf.constant(x[kept], tf.string if dtype is object else dtype)
            s = tf.sparse.SparseTensor(np.argwhere(kept), given, shape)
            order = case.random.permutation(rank)
            dense = tf.sparse.to_dense
            check(case, dense(s), x, what)
            check(case, dense(tf.sparse.transpose(s, order)), x.transpose(order), what)
            axis = int(case.random.integers(rank))
            check(case, dense(tf.sparse.concat(axis, [s, s])), np.concatenate([x, x], axis), what)
            start = [int(case.random.integers(0, d)) for d in shape]
            size = [int(case.random.integers(1, d + 1)) for d in shape]
            cut = x[tuple(slice(a, a + n) for a, n in zip(start, size))]
            check(case, dense(tf.sparse.slice(s, start, size)), cut, what)
            check(case, dense(tf.sparse.reshape(s, [-1])), x.reshape(-1), what)
            mixed = case.random.permutation(len(s.values))
            unordered = tf.sparse.SparseTensor(s.indices.numpy()[mixed], tf.gather(s.values, mixed), shape)
            check(case, dense(tf.sparse.reorder(unordered)), x, what)
            pieces = tf.sparse.split(s, min(shape[axis], 2), axis)
            for piece, part in zip(pieces, np.array_split(x, len(pieces), axis)):
                check(case, dense(piece), part, what)
            if dtype is not object:
                case.check(tf.sparse.reduce_sum(s, axis), x.sum(axis), what, 1e-6, 1e-6)
                case.check(dense(tf.sparse.add(s, s)), x + x, what, 0, 0)


@branches()
def test_quantized_values(case):
    """Each type and mode at each length; a level more or less where the exact value is near the middle."""
    kinds = {tf.quint8: (0, 255), tf.qint8: (-128, 127), tf.quint16: (0, 65535), tf.qint16: (-32768, 32767)}
    for n in [*range(0, 18), 31, 33, 63, 64, 65, 255, 257, 2500]:
        x = (3 * case.floats(n)).astype(np.float32)
        low, high = np.float32(-4.5), np.float32(5.25)
        for kind, (least, most) in kinds.items():
            clipped = np.clip(x.astype(np.float64), low, high)
            for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
                y, a, b = tf.quantization.quantize(x, low, high, kind, mode)
                a, b = float(a), float(b)
                if mode == "SCALED":
                    scale = min(most / high, least / low if least else np.inf)
                    want = np.clip(np.round(x * scale), least, most)
                elif mode == "MIN_FIRST":
                    scale = (most - least) / (float(high) - low)
                    want = np.round(clipped * scale) - np.round(low * scale) + least
                else:
                    want = np.round((clipped - low) * (most - least) / (float(high) - low)) + least
                found = y.numpy().astype(np.float64)
                what = f"{kind} {mode} {n}"
                case.check(y.numpy().view(np.uint8 if most - least == 255 else np.uint16),
                           y.numpy().view(np.uint8 if most - least == 255 else np.uint16), what, 0, 0)
                assert (np.abs(found - want) <= 1).all(), what
                assert n < 200 or (found != want).mean() < 0.02, what
                back = tf.quantization.dequantize(y, a, b, mode)
                case.check(back, np.clip(x, a, b), what, 0, 1.01 * (b - a) / (most - least))
