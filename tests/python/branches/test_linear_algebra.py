"""Linear algebra at sizes around those at which it works in blocks, diagonals, and neighbours of points."""
import numpy as np
import penstock.v2 as tf
from branch_testing import branches

TYPES = [np.float32, np.float64, np.complex64, np.complex128]
SIZES = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 49, 65]
WIDE = {np.float32: np.float64, np.float64: np.float64, np.complex64: np.complex128, np.complex128: np.complex128}


def matrices(case, dtype, *shape):
    """Random matrices, and 2 * n on the diagonal: they have well-conditioned inverses."""
    x = case.floats(*shape, dtype=dtype)
    n = min(shape[-2:])
    x[..., np.arange(n), np.arange(n)] += dtype(2 * n)
    return x


def accuracy(dtype, n):
    return (3e-6 if np.dtype(dtype).itemsize in (4, 8) and dtype in (np.float32, np.complex64) else 1e-14) * (n + 4)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@branches()
def test_factors(case):
    for dtype in TYPES:
        for n in SIZES:
            close = accuracy(dtype, n)
            x = matrices(case, dtype, 2, n, n)
            wide = x.astype(WIDE[dtype])
            what = f"{np.dtype(dtype)} {n}"
            positive = (wide @ adjoint(wide) / max(n, 1) ** 2).astype(dtype)
            root = np.linalg.cholesky(positive.astype(WIDE[dtype]))
            case.check(tf.linalg.cholesky(positive), root, what, close, close)
            case.check(tf.linalg.inv(x), np.linalg.inv(wide), what, close, close)
            sign, log = tf.linalg.slogdet(x)
            want = np.linalg.slogdet(wide)
            case.check(sign, want[0], what, 10 * close, 10 * close)
            case.check(log.numpy().real, want[1], what, close, close)
            lu, order = tf.linalg.lu(x)
            lower = np.tril(lu.numpy(), -1) + np.eye(n)
            product = np.take_along_axis(lower @ np.triu(lu.numpy()), np.argsort(order.numpy(), -1)[..., None], 1)
            case.check(product, x, what, close, close * (n + 1))


@branches()
def test_orthogonal_factors(case):
    for dtype in TYPES:
        for m, n in [(m, n) for m in SIZES[1::2] for n in (1, 3, 17, 33)]:
            close = 4 * accuracy(dtype, max(m, n))
            x = case.floats(2, m, n, dtype=dtype)
            what = f"{np.dtype(dtype)} {m} x {n}"
            for full in (False, True):
                q, r = (t.numpy() for t in tf.linalg.qr(x, full_matrices=full))
                assert not np.tril(r, -1).any(), what
                case.check(q @ r, x, what, close, close)
                case.check(adjoint(q) @ q, np.stack([np.eye(q.shape[-1])] * 2), what, 0, close)
            s, u, v = (t.numpy() for t in tf.linalg.svd(x))
            case.check(s, np.linalg.svd(x.astype(WIDE[dtype]), compute_uv=False), what, close, close)
            case.check((u * s[:, None, :]) @ adjoint(v), x, what, close, 3 * close)


@branches()
def test_eigenvalues(case):
    for dtype in TYPES:
        for n in SIZES[1:]:
            close = 4 * accuracy(dtype, n)
            x = case.floats(2, n, n, dtype=dtype)
            x = (x + adjoint(x)) / dtype(2)
            what = f"{np.dtype(dtype)} {n}"
            e, v = (t.numpy() for t in tf.linalg.eigh(x))
            case.check(e, np.linalg.eigvalsh(x.astype(WIDE[dtype])), what, close, close * n**0.5)
            case.check((v * e[:, None, :]) @ adjoint(v), x, what, close, close * n**0.5)


@branches()
def test_solutions(case):
    for dtype in TYPES:
        for n in SIZES:
            for columns in (1, 2, 9):
                close = accuracy(dtype, n)
                a, b = matrices(case, dtype, 2, n, n), case.floats(2, n, columns, dtype=dtype)
                wide, right = a.astype(WIDE[dtype]), b.astype(WIDE[dtype])
                what = f"{np.dtype(dtype)} {n} {columns}"
                for turned in (False, True):
                    case.check(tf.linalg.solve(a, b, adjoint=turned),
                               np.linalg.solve(adjoint(wide) if turned else wide, right), what, close, close)
                    for lower in (False, True):
                        part = np.tril(wide) if lower else np.triu(wide)
                        case.check(tf.linalg.triangular_solve(a, b, lower, turned),
                                   np.linalg.solve(adjoint(part) if turned else part, right), what, close, close)
        for m, n in [(1, 1), (3, 3), (5, 3), (3, 5), (33, 17), (17, 33), (65, 64)]:
            a, b = matrices(case, dtype, 2, m, n), case.floats(2, m, 3, dtype=dtype)
            wide = a.astype(WIDE[dtype])
            want = np.linalg.pinv(wide) @ b.astype(WIDE[dtype])
            for fast in (False, True):
                case.check(tf.linalg.lstsq(a, b, fast=fast), want, f"{np.dtype(dtype)} {m} x {n} {fast}",
                           10 * accuracy(dtype, m), 10 * accuracy(dtype, m))


@branches()
def test_tridiagonal(case):
    for dtype in TYPES:
        for n in (1, 2, 3, 4, 8, 17, 64):
            diagonals = case.floats(2, 3, n, dtype=dtype)
            for pivoting in (False, True):
                diagonals[:, 1] += dtype(6)
                full = np.stack([np.diag(d[1]) + np.diag(d[0, :-1], 1) + np.diag(d[2, 1:], -1) for d in diagonals])
                b = case.floats(2, n, 3, dtype=dtype)
                close = accuracy(dtype, n)
                compact, right = tf.constant(diagonals), tf.constant(b)
                found = tf.linalg.tridiagonal_solve(compact, right, "compact", partial_pivoting=pivoting)
                case.check(found, np.linalg.solve(full.astype(WIDE[dtype]), b), f"{np.dtype(dtype)} {n}", close, close)
                case.check(tf.linalg.tridiagonal_matmul(compact, right, "compact"), full.astype(WIDE[dtype]) @ b,
                           f"{np.dtype(dtype)} {n}", close, 10 * close)


def lines_of(rows, columns, low, high, align):
    """For each diagonal from the highest: where it stands in the compact form, and its elements' places."""
    length = max(min(rows + min(k, 0), columns - max(k, 0)) for k in range(low, high + 1))
    for at, k in enumerate(range(high, low - 1, -1)):
        places = [(i, i + k) for i in range(rows) if 0 <= i + k < columns]
        side = align.split("_")[0 if k >= 0 else 1]
        start = length - len(places) if side == "RIGHT" else 0
        yield at, start, places, length


@branches("band_part/result")
def test_diagonals(case):
    for dtype in [np.uint8, np.int16, np.float32, np.float64, np.complex128]:
        for _ in range(40):
            rows, columns = (int(n) for n in case.random.integers(1, 12, 2))
            low, high = sorted(int(k) for k in case.random.integers(1 - rows, columns, 2))
            align = case.pick(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])
            x = case.random.integers(0, 100, (3, rows, columns)).astype(dtype)
            lines = list(lines_of(rows, columns, low, high, align))
            length = lines[0][-1]
            part, diagonal, changed = np.full((3, len(lines), length), dtype(7)), np.full_like(x, dtype(9)), x.copy()
            new = case.random.integers(0, 100, part.shape).astype(dtype)
            for at, start, places, _ in lines:
                for i, (r, c) in enumerate(places):
                    part[:, at, start + i] = x[:, r, c]
                    diagonal[:, r, c] = changed[:, r, c] = new[:, at, start + i]
            flat = (lambda d: d[:, 0]) if low == high else lambda d: d
            what = f"{np.dtype(dtype)} {rows} x {columns}, {low} to {high} {align}"
            k = dict(k=[low, high], align=align)
            case.check(tf.raw_ops.MatrixDiagPartV3(input=x, padding_value=dtype(7), **k), flat(part), what, 0, 0)
            case.check(tf.raw_ops.MatrixSetDiagV3(input=x, diagonal=flat(new), **k), changed, what, 0, 0)
            case.check(tf.raw_ops.MatrixDiagV3(diagonal=flat(new), num_rows=rows, num_cols=columns,
                                               padding_value=dtype(9), **k), diagonal, what, 0, 0)
            below, above = int(case.random.integers(-1, rows + 1)), int(case.random.integers(-1, columns + 1))
            r, c = np.indices((rows, columns))
            band = ((below < 0) | (r - c <= below)) & ((above < 0) | (c - r <= above))
            want, one = np.where(band, x, dtype(0)), x.dtype.type(1)
            case.check(tf.linalg.band_part(x, below, above), want, what, 0, 0)
            own = tf.function(lambda x: tf.linalg.band_part(x + one, below, above))(x)
            case.check(own, np.where(band, x + one, dtype(0)), what, 0, 0)


@branches("nearest_neighbors/points")
def test_nearest_neighbors(case):
    for points, centers, dims, k in [(1, 1, 1, 1), (7, 3, 2, 2), (7, 3, 5, 9), (100, 3000, 3, 4), (87, 3013, 1, 1)]:
        x, c = case.floats(points, dims), case.floats(centers, dims)
        apart = np.square(x[:, None].astype(np.float64) - c[None]).sum(-1)
        k_there = min(k, centers)
        found, distances = tf.raw_ops.NearestNeighbors(points=x, centers=c, k=k)
        case.check(distances, np.sort(apart, 1)[:, :k_there], f"{points} {centers} {dims}", 1e-3, 1e-4)
        case.check(np.take_along_axis(apart, found.numpy(), 1), np.sort(apart, 1)[:, :k_there],
                   f"{points} {centers} {dims}", 1e-3, 1e-4)
