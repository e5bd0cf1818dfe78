"""Products of matrices: gemm, MatMul in batches, Einsum, sparse ones."""
import ml_dtypes
import numpy as np
import penstock.v1 as tf1
import penstock.v2 as tf
from branch_testing import branches

FLOATS = [np.float32, np.float64]
OTHERS = [np.float16, ml_dtypes.bfloat16, np.uint8, np.uint16, np.int32, np.int64, np.uint32, np.uint64,
          np.complex64, np.complex128]


def numbers(case, dtype, *shape):
    """Small integers, so that the product of most types is exact."""
    if np.dtype(dtype).kind == "c":
        return (case.random.integers(-4, 5, shape) + 1j * case.random.integers(-4, 5, shape)).astype(dtype)
    return case.random.integers(0 if np.dtype(dtype).kind == "u" else -4, 5, shape).astype(dtype)


def exact(a, b, dtype):
    """The product of a and b, rounded once; integers wrap around."""
    if np.dtype(dtype).kind in "iu":
        return (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    return (a.astype(wide) @ b.astype(wide)).astype(dtype)


def product(case, dtype, m, n, k):
    a, b = numbers(case, dtype, m, k), numbers(case, dtype, k, n)
    for ta in (False, True):
        for tb in (False, True):
            x, y = np.ascontiguousarray(a.T) if ta else a, np.ascontiguousarray(b.T) if tb else b
            case.check(tf.linalg.matmul(tf.constant(x), tf.constant(y), transpose_a=ta, transpose_b=tb),
                       exact(a, b, dtype), f"{np.dtype(dtype)} {m} x {k} x {n}, transposed {ta} {tb}", 0, 0)


@branches("gemm/implementation", "gemm/layout", "gemm/grid", "gemm/type")
def test_matmul(case):
    borders = [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 25, 31, 32, 33, 48, 49, 63, 64, 65]
    for dtype in FLOATS:
        for m, n, k in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (64, 8, 64), (65, 8, 64), (64, 9, 64), (64, 8, 65),
                        (32, 32, 32), (33, 32, 32), (32, 33, 32), (32, 32, 33), (4, 2047, 3), (4, 2048, 3),
                        (3, 2049, 40), (5, 2049, 40), (65, 1, 70), (300, 1, 70), (16, 40, 300), (8, 33, 257),
                        (32, 65, 513), (33, 65, 513), (49, 31, 255), (50, 130, 256), (50, 130, 257), (70, 300, 64),
                        (70, 300, 65), (300, 70, 130), (241, 33, 600), (40, 4200, 65), (1100, 40, 240)]:
            product(case, dtype, m, n, k)
        for _ in range(40):
            product(case, dtype, *(int(case.pick(borders)) for _ in range(3)))
    for dtype in OTHERS:
        for m, n, k in [(0, 3, 2), (3, 2, 0), (1, 1, 1), (8, 9, 65), (33, 32, 20), (4, 33, 40), (50, 70, 257)]:
            product(case, dtype, m, n, k)
        for _ in range(4):
            product(case, dtype, *(int(case.pick(borders)) for _ in range(3)))


@branches("gemm/library")
def test_large_matmul(case):
    for m, n, k in [(7, 9, 70000), (8, 9, 75000), (270, 273, 270), (280, 273, 271), (8, 1300, 2000), (171, 170, 173)]:
        a, b = numbers(case, np.float32, m, k), numbers(case, np.float32, k, n)
        want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
        for ta, tb in [(False, False), (True, False), (False, True)]:
            x, y = np.ascontiguousarray(a.T) if ta else a, np.ascontiguousarray(b.T) if tb else b
            case.check(tf.linalg.matmul(x, y, transpose_a=ta, transpose_b=tb), want, f"{m} x {k} x {n} {ta} {tb}", 0, 0)


@branches("gemm/implementation:tiny", "gemm/implementation:small", "gemm/implementation:rows",
          "gemm/implementation:tiled")
def test_bias_and_sums(case):
    """_FusedMatMul: a bias and an activation behind the product; a product that is added to others."""
    for m, n, k in [(5, 4, 3), (20, 20, 20), (3, 70, 9), (4, 2050, 9), (40, 70, 33), (70, 33, 130), (0, 3, 2),
                    (3, 4, 0)]:
        a, b, bias = (numbers(case, np.float32, *s) for s in ((m, k), (k, n), (n,)))
        more = [numbers(case, np.float32, m, n)] + [numbers(case, np.float32, *s) for s in ((k, m), (k, n)) * 5]
        with tf1.Graph().as_default(), tf1.Session() as session:
            feeds = {tf1.placeholder(tf1.float32, [None, None]): value for value in [a, b] + more}
            x, y, addend, *pairs = feeds
            added = [addend] + [tf1.matmul(p, q, transpose_a=True) for p, q in zip(pairs[::2], pairs[1::2])]
            fetches = [tf1.nn.bias_add(tf1.matmul(x, y), bias), tf1.nn.relu(tf1.nn.bias_add(tf1.matmul(x, y), bias)),
                       tf1.nn.relu6(tf1.nn.bias_add(tf1.matmul(x, y), bias)), tf1.add_n(added),
                       tf1.add_n([addend, tf1.matmul(x, y)])]
            got = session.run(fetches, feeds)
        z = a @ b + bias
        total = more[0] + sum(p.T @ q for p, q in zip(more[1::2], more[2::2]))
        for actual, want in zip(got, [z, np.maximum(z, 0), np.clip(z, 0, 6), total, more[0] + a @ b]):
            case.check(actual, want, f"{m} x {k} x {n}", 0, 0)


@branches("batch_matmul/way")
def test_batch_matmul(case):
    shapes = [([3], [3]), ([3], []), ([3], [1]), ([2, 3], [3]), ([2, 1], [1, 4]), ([1], [5]), ([], [2]), ([0], [0]),
              ([7], [7]), ([8], [8]), ([2, 3, 1], [1, 2])]
    sizes = [(2, 3, 4), (1, 1, 1), (33, 5, 9), (5, 40, 33), (3, 2, 0)]
    cases = [(s, z, d) for s in shapes for z in sizes for d in [np.float32, np.int32]]
    cases += [(s, (4, 9, 5), d) for s in shapes[:5] for d in FLOATS + OTHERS + [np.int16]]
    cases += [(([7], [7]), (128, 129, 128), np.float32), (([8], [8]), (128, 129, 128), np.float32),
              (([2], [1]), (128, 129, 128), np.float32)]
    for (xs, ys), (m, n, k), dtype in cases:
        a, b = numbers(case, dtype, *xs, m, k), numbers(case, dtype, *ys, k, n)
        want = exact(a, b, dtype)
        for ta in (False, True):
            for tb in (False, True):
                x = np.ascontiguousarray(np.conj(np.swapaxes(a, -1, -2))) if ta else a
                y = np.ascontiguousarray(np.conj(np.swapaxes(b, -1, -2))) if tb else b
                case.check(tf.raw_ops.BatchMatMulV2(x=x, y=y, adj_x=ta, adj_y=tb), want,
                           f"{np.dtype(dtype)} {a.shape} {b.shape} {ta} {tb}", 0, 0)


@branches("einsum/batches", "einsum/output", "einsum/operand")
def test_einsum(case):
    equations = ["ij,jk->ik", "ij,jk->ki", "ji,jk->ik", "ij,kj->ik", "bij,bjk->bik", "bij,bjk->ibk", "ibj,jkb->bki",
                 "ij,j->i", "i,j->ij", "i,i->", "ij,ij->", "abc,cd->abd", "abc,dcb->da", "ij->ji", "ii->i", "ii->",
                 "i->ii", "ij->", "ijk->k", "...ij,...jk->...ik", "i...,i...->...", "b...d,dk->b...k", "ijj,jk->ik"]
    for equation in equations:
        terms = equation.split("->")[0].split(",")
        for _ in range(4):
            size = {c: int(case.pick([1, 2, 3, 5, 17])) for c in "ijkabcd"}
            dots = tuple(case.random.integers(1, 4, case.random.integers(0, 3)))
            for dtype in FLOATS + [np.complex64, np.int32, np.float16]:
                values = []
                for term in terms:
                    shape = [s for c in term.replace("...", ".") for s in (dots if c == "." else [size[c]])]
                    values.append(numbers(case, dtype, *shape))
                wide = [v.astype(np.complex128 if v.dtype.kind == "c" else np.float64) for v in values]
                want = np.diag(wide[0]) if equation == "i->ii" else np.einsum(equation, *wide)
                case.check(tf.raw_ops.Einsum(inputs=values, equation=equation), want.astype(dtype),
                           f"{equation} {[v.shape for v in values]} {np.dtype(dtype)}", 0, 0)
    for b in (3, 4):
        a, c = numbers(case, np.float32, b, 40, 50), numbers(case, np.float32, b, 51, 50)
        case.check(tf.einsum("bij,bkj->bik", a, c), np.einsum("bij,bkj->bik", a, c), f"{b} products", 0, 0)


@branches("sparse_matmul/way")
def test_sparse_matmul(case):
    for dtype in [np.float32, np.float64, np.int32, np.complex64, np.float16]:
        for n in (1, 2, 4, 5, 16, 17, 33):
            for entries in (0, 1, 30):
                rows, inner = (int(v) for v in case.random.integers(1, 12, 2))
                at = np.stack([case.random.integers(0, rows, entries), case.random.integers(0, inner, entries)], 1)
                if case.random.integers(2):
                    at = at[np.lexsort(at.T[::-1])]
                weights, b = numbers(case, dtype, entries), numbers(case, dtype, inner, n)
                wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
                dense = np.zeros((rows, inner), wide)
                np.add.at(dense, tuple(at.T), weights)
                for adjoint_a in (False, True):
                    for adjoint_b in (False, True):
                        place = at[:, ::-1] if adjoint_a else at
                        shape = [inner, rows] if adjoint_a else [rows, inner]
                        w = np.conj(weights) if adjoint_a else weights
                        y = np.ascontiguousarray(np.conj(b.T)) if adjoint_b else b
                        case.check(tf.raw_ops.SparseTensorDenseMatMul(
                            a_indices=np.ascontiguousarray(place), a_values=w, a_shape=np.int64(shape), b=y,
                            adjoint_a=adjoint_a, adjoint_b=adjoint_b), (dense @ b.astype(wide)).astype(dtype),
                            f"{np.dtype(dtype)} {entries} of {rows} x {inner}, {n} {adjoint_a} {adjoint_b}", 0, 0)
