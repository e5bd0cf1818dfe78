"""Functions of elements: how inputs are stretched, chains and rows that graph optimisation joins, transforms."""
import ml_dtypes
import numpy as np
import penstock.v1 as tf1
import penstock.v2 as tf
from branch_testing import branches

TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int16, np.int32, np.int64,
         np.uint16, np.uint32, np.uint64, np.complex64, np.complex128]
SIZES = [1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65]


def values(case, dtype, *shape):
    x = case.random.integers(1, 8, shape)
    return (x + 1j * case.random.integers(1, 8, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def stretched_pair(case, count=2, most=30000):
    while True:
        whole = [int(case.pick(SIZES)) for _ in range(case.random.integers(0, 5))]
        if np.prod(whole) > most:
            continue
        return [[1 if case.random.integers(3) == 0 else n for n in whole[case.random.integers(0, len(whole) + 1) if
                                                                        case.random.integers(3) == 0 else 0:]]
                for _ in range(count)]


@branches("elementwise/shapes")
def test_broadcast(case):
    fixed = [([513, 31], [31]), ([513, 32], [32]), ([40, 1], [1, 40]), ([3, 1, 5], [4, 1]), ([0, 3], [1, 3]), ([], [5]),
             ([5], []), ([64], [64]), ([65], [65]), ([1], [70]), ([2, 700], [700]), ([700, 2], [2]),
             ([33, 1], [33, 700])]
    for dtype in TYPES:
        for shapes in fixed + [stretched_pair(case) for _ in range(12)]:
            a, b = (values(case, dtype, *s) for s in shapes)
            wide = [v.astype(np.complex128 if v.dtype.kind == "c" else np.float64) for v in (a, b)]
            what = f"{np.dtype(dtype)} {a.shape} {b.shape}"
            case.check(tf.add(a, b), (wide[0] + wide[1]).astype(dtype), what, 0, 0)
            case.check(tf.multiply(a, b), (wide[0] * wide[1]).astype(dtype), what, 0, 0)
            case.check(tf.equal(a, b), a == b, what)
            if np.dtype(dtype).kind != "c":
                case.check(tf.less(a, b), wide[0] < wide[1], what)
                case.check(tf.maximum(a, b), np.maximum(a, b), what, 0, 0)
                case.check(tf.math.floormod(a, b), np.mod(wide[0], wide[1]).astype(dtype), what, 0, 0)
            chosen = case.random.random(a.shape) < 0.5
            case.check(tf.where(chosen, a, b), np.where(chosen, a, b), what, 0, 0)


def compare(case, build, feeds, what):
    """A version 1 graph, optimised, against the same ops one by one. Of shapes the last dimension is known, or none."""
    for known in (True, False):
        compare_graph(case, build, feeds, [[None] * (v.ndim - 1) + list(v.shape[-1:]) if known else [None] * v.ndim
                                           for v in feeds], what)


def compare_graph(case, build, feeds, shapes, what):
    with tf1.Graph().as_default() as graph:
        inputs = [tf1.placeholder(v.dtype, shape) for v, shape in zip(feeds, shapes)]
        outputs = build(*inputs)
        off = tf1.ConfigProto()
        off.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
        off.graph_options.rewrite_options.disable_meta_optimizer = True
        results = []
        for config in (tf1.ConfigProto(), off):
            with tf1.Session(graph=graph, config=config) as session:
                results.append(session.run(outputs, dict(zip(inputs, feeds))))
    for got, want in zip(*results):
        case.check(got, want, what, 0, 0)


@branches("fused_elementwise/way", "fused_elementwise/argument", "fused_elementwise/result", "selection/comparison",
          "joining/part")
def test_fused_elementwise(case):
    def chain(a, b, c):
        x = tf.tanh(a * b + c) * 2 - b
        return [x, tf.sigmoid(x) * a, tf.maximum(x, c)]

    def cell(gates, state, c):
        i, j, f, o = tf1.split(gates, 4, 1)
        new = state * tf.sigmoid(f + 1) + tf.sigmoid(i) * tf.tanh(j)
        return [tf1.concat([new * c, tf.tanh(new) * tf.sigmoid(o)], 1), new]

    def choice(a, b, c):
        return [tf1.where_v2(a * 2 > b, a + c, b * c) + 1, tf1.where_v2(tf.equal(a, b), a, c) * 2]

    def long_chain(a, b, c):  # of as many steps as one node takes, and of more
        outputs = []
        for steps in (30, 31, 32, 33, 65):
            x = a + b
            for i in range(steps):
                x = tf.tanh(x) if i % 3 else x * c
            outputs.append(x)
        return outputs

    def wide_sum(*args):
        return [tf1.add_n(args), tf.tanh(tf1.add_n(args[:2])) * tf1.add_n(args)]

    shapes = [([5], [5], [5]), ([4, 1030], [1030], [1]), ([70, 33], [33], [70, 1]), ([6, 7, 40], [7, 1], [6, 1, 40]),
              ([2, 3, 4], [3, 1], [1, 4]), ([0, 3], [3], [1]), ([1], [5], [3, 1]), ([3, 2000], [3, 1], [2000]),
              ([9, 64], [1, 64], [9, 1]), ([2, 1, 3], [5, 1], [3]), ([9, 5], [9, 5], [9, 5]), ([600, 500], [500], [1])]
    for dtype in (np.float32, np.float64):
        for three in shapes + [stretched_pair(case, 3) for _ in range(25)]:
            feeds = [case.floats(*s, dtype=dtype) for s in three]
            for build in (chain, choice):
                compare(case, build, feeds, f"{build.__name__} {np.dtype(dtype)} {three}")
        for shape in ([3, 5], [700], [40, 33]):
            compare(case, long_chain, [case.floats(*shape, dtype=dtype) for _ in range(3)], f"long chain {shape}")
            for count in (2, 3, 15, 16, 17, 18, 40):
                compare(case, wide_sum, [case.floats(*shape, dtype=dtype) for _ in range(count)], f"{count} x {shape}")
        for rows, width in [(1, 1), (3, 5), (40, 64), (33, 33), (0, 3), (3, 0), (7, 1000)]:
            feeds = [case.floats(rows, 4 * width, dtype=dtype), case.floats(rows, width, dtype=dtype),
                     case.floats(rows, 1, dtype=dtype)]
            compare(case, cell, feeds, f"cell {np.dtype(dtype)} {rows} {width}")


@branches("fused_rows/way", "fused_rows/step", "fused_rows/result")
def test_fused_rows(case):
    def softmax(x, y):
        e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
        return [e / tf.reduce_sum(e, -1, keepdims=True) * y]

    def norm(x, y):
        mean = tf.reduce_mean(x, -1, keepdims=True)
        centred = x - mean
        return [centred * tf.math.rsqrt(tf.reduce_mean(centred * centred, -1, keepdims=True) + 1e-3) * y, mean]

    def norm_of_result(x, y):  # which nobody else reads, so that its memory is free
        return norm(tf.reverse(x, [0]), y)

    shapes = [([3, 5], [5]), ([3, 5], [1]), ([3, 5], [3, 1]), ([4, 3, 17], [3, 1]), ([4, 3, 17], [3, 17]),
              ([4, 3, 17], [4, 1, 17]), ([7], [7]), ([5, 1], [1]), ([0, 4], [4]), ([4, 0], [1]), ([63, 130], [130]),
              ([65, 64], [65, 64]), ([2, 9000], [1]), ([300, 7], [7]), ([2, 3], [4, 2, 3]), ([700, 500], [500])]
    for dtype in (np.float32, np.float64):
        for x, y in shapes:
            for build in (softmax, norm, norm_of_result):
                compare(case, build, [case.floats(*x, dtype=dtype), case.floats(*y, dtype=dtype)],
                        f"{build.__name__} {np.dtype(dtype)} {x} {y}")


@branches("fft/length", "fft/lines", "fft/real", "fft/inverse_real")
def test_fft(case):
    lengths = [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 30, 34, 64, 67, 91, 97, 120, 127, 128, 256, 251, 1001, 1009]
    for dtype, tolerance in [(np.complex64, 2e-5), (np.complex128, 1e-12)]:
        for n in lengths:
            for lines in (1, 2, 3, 8, 9, 17):
                x = case.floats(lines, n, dtype=dtype)
                for op, f in [(tf.signal.fft, np.fft.fft), (tf.signal.ifft, np.fft.ifft)]:
                    want = f(x.astype(np.complex128))
                    case.check(op(tf.constant(x)), want.astype(dtype), f"{f.__name__} {lines} x {n}", tolerance,
                               tolerance * np.abs(want).max())
                want = np.fft.rfft(x.real.astype(np.float64))
                case.check(tf.signal.rfft(tf.constant(x.real)), want.astype(dtype),
                           f"rfft {lines} x {n}", tolerance, tolerance * np.abs(want).max())
                half = want.astype(dtype)
                case.check(tf.signal.irfft(tf.constant(half), [n]), np.fft.irfft(half, n).astype(x.real.dtype),
                           f"irfft {lines} x {n}", tolerance, 4 * tolerance)
        for a, b in [(3, 5), (16, 17), (8, 8), (1, 9), (9, 1)]:
            x = case.floats(2, a, b, dtype=dtype)
            want = np.fft.fft2(x.astype(np.complex128))
            case.check(tf.signal.fft2d(tf.constant(x)), want.astype(dtype), f"fft2 {a} x {b}", tolerance,
                       tolerance * np.abs(want).max())
