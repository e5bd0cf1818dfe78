"""Linear algebra, Fourier transforms, connectionist temporal classification."""

import numpy as np
from spec import Case, Type, V, i32, i64


def _matrices(*shape, seed=0, positive=False):
    x = np.random.RandomState(seed).randint(-16, 17, shape) / 8
    if positive:
        x = x @ np.swapaxes(x, -1, -2) + 2 * np.eye(shape[-1])
    return V(values=x)


def _cases():
    made = []
    plain, every = ("float32", "float64"), ("float32", "float64", "complex64", "complex128")

    def add(op, error=None, types=every, tolerance=1e-3, outputs=None, grad=True, **args):
        made.append(
            Case(
                op,
                args,
                error=error,
                types=types if error is None else ("float32",),
                tolerance=tolerance,
                outputs=outputs,
                grad=grad,
            )
        )

    a, positive = _matrices(2, 3, 3, seed=1), _matrices(2, 3, 3, seed=2, positive=True)
    rhs = _matrices(2, 3, 2, seed=3)
    empty = V(2, 0, 0)
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Lu", "MatrixSquareRoot"):
        add(op, input=positive)
        add(op, input=empty, grad=False)
        add(op, input=V(2, 3), error="")
        add(op, input=V(3), error="")
    add("MatrixLogarithm", input=positive, types=("complex64", "complex128"))
    for adjoint in (False, True):
        add("MatrixInverse", input=a, adjoint=adjoint)
        add("MatrixSolve", matrix=a, rhs=rhs, adjoint=adjoint)
        for is_lower in (False, True):
            add("MatrixTriangularSolve", matrix=positive, rhs=rhs, lower=is_lower, adjoint=adjoint)
            bands = V(values=np.asarray(_matrices(2, 5, seed=5).values) + 3)
            add("BandedTriangularSolve", matrix=bands, rhs=_matrices(5, 2), lower=is_lower, adjoint=adjoint, grad=False)
    add("MatrixTriangularSolve", matrix=V(values=np.asarray(positive.values)[0]), rhs=rhs)
    add("MatrixSolve", matrix=V(2, 3, 3), rhs=V(2, 2, 3), error="")
    add("MatrixSolve", matrix=V(values=np.zeros((2, 2))), rhs=V(2, 1), error="not invertible")
    add("MatrixInverse", input=V(values=np.zeros((2, 2))), error="not invertible")
    for shape in ((2, 4, 3), (2, 3, 4)):
        matrix, right = _matrices(*shape, seed=6), _matrices(2, shape[1], 2, seed=7)
        for fast in (True, False):
            add(
                "MatrixSolveLs",
                matrix=matrix,
                rhs=right,
                l2_regularizer=np.array(0.25 if fast else 0.0),
                fast=fast,
                types=plain,
                grad=fast,
            )
        for full in (False, True):
            add("Qr", input=matrix, full_matrices=full, grad=False)
        add("Qr", input=matrix)
        add("Svd", input=matrix, compute_uv=True, full_matrices=True, outputs=[0], grad=False)
        add("Svd", input=matrix, compute_uv=False, outputs=[0])
    add("SelfAdjointEigV2", input=positive, compute_v=False, outputs=[0], types=plain)
    for kind, wide in (("float32", "complex64"), ("float64", "complex128"), ("complex64", "complex64")):
        diagonal = V(values=np.diag([1.0, 2.0, 4.0]))
        add("Eig", input=diagonal, compute_v=False, Tout=Type(wide), types=(kind,), outputs=[0], grad=False)
    diagonals = V(values=np.asarray(_matrices(2, 3, 5, seed=8).values) + np.array([[0], [5], [0]]))
    for pivoting in (False, True):
        add("TridiagonalSolve", diagonals=diagonals, rhs=_matrices(2, 5, 2, seed=9), partial_pivoting=pivoting)
    add("TridiagonalSolve", diagonals=V(2, 5), rhs=V(5, 2), error="")
    row = [_matrices(2, 1, 5, seed=s) for s in (10, 11, 12)]
    add("TridiagonalMatMul", superdiag=row[0], maindiag=row[1], subdiag=row[2], rhs=_matrices(2, 5, 2, seed=9))
    complexes = ("complex64", "complex128")
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        for n in (1, 4, 7, 37):
            shape = (2, n, 3, 4)[: rank + 1]
            for op in ("FFT", "IFFT"):
                add(op + suffix, input=V(*shape), types=complexes)
        for length in ((4, 3, 6), (3, 4, 5)):
            length = length[3 - rank :]
            for real, wide in (("float32", "complex64"), ("float64", "complex128")):
                x = V(2, *(5, 5, 7)[3 - rank :])
                add("RFFT" + suffix, input=x, fft_length=i32(length), Tcomplex=Type(wide), types=(real,), grad=False)
                add("IRFFT" + suffix, input=x, fft_length=i32(length), Treal=Type(real), types=(wide,), grad=False)
        add("RFFT" + suffix, input=V(2, 4, 4, 4), fft_length=i32([9] * rank), error="")
        add("RFFT" + suffix, input=V(2, 4, 4, 4), fft_length=i32([4] * (rank + 1)), error="")
    for merge in (True, False):
        for collapse in (True, False):
            made.append(
                Case(
                    "CTCLoss",
                    dict(
                        inputs=V(5, 2, 4),
                        labels_indices=i64([[0, 0], [0, 1], [1, 0], [1, 1]]),
                        labels_values=i32(0, 2, 1, 1),
                        sequence_length=i32(5, 4),
                        ctc_merge_repeated=merge,
                        preprocess_collapse_repeated=collapse,
                    ),
                    types=plain,
                    grad=False,
                    tolerance=1e-4,
                )
            )
        add("CTCGreedyDecoder", inputs=V(6, 2, 4), sequence_length=i32(6, 3), merge_repeated=merge, types=plain)
        add(
            "CTCBeamSearchDecoder",
            inputs=V(6, 2, 4),
            sequence_length=i32(6, 3),
            beam_width=6,
            top_paths=2,
            merge_repeated=merge,
            types=plain,
        )
    add("CTCGreedyDecoder", inputs=V(6, 2, 4), sequence_length=i32(7, 3), error="")
    add("CTCGreedyDecoder", inputs=V(6, 4), sequence_length=i32(6, 3), error="")
    return made


CASES = _cases()
