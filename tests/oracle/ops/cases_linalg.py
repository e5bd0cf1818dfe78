"""Matrices: decompositions, solutions, functions; Fourier transforms."""

import numpy as np
from spec import Case, Type, V, i32

_FIELD = ("float32", "float64", "complex64", "complex128", "half")
# Well conditioned: answers do not hang on the last bits.
_SQUARE = [[4.0, 1.0, -0.5], [0.5, 3.0, 1.0], [-1.0, 0.25, 5.0]]
_POSITIVE = [[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 5.0]]
_LOWER = [[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.25, 3.0]]


def _batch(matrix):
    return [matrix, (np.asarray(matrix) * 0.5).tolist()]


def _cases():
    made = []

    def add(op, error=None, types=_FIELD, tolerance=2e-4, **args):
        outputs = args.pop("outputs", None)
        grad = args.pop("grad", True)
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

    for values in (_SQUARE, _batch(_SQUARE), [[7.0]], np.zeros((0, 0)).tolist(), np.zeros((2, 0, 0)).tolist()):
        matrix = V(
            values=np.reshape(
                values, np.shape(values) if np.size(values) else (np.shape(values)[0], 0, 0)[-max(2, np.ndim(values)) :]
            )
        )
        add("MatrixDeterminant", input=matrix)
        add("LogMatrixDeterminant", input=matrix)
        for adjoint in (False, True):
            add("MatrixInverse", input=matrix, adjoint=adjoint)
        add("Lu", input=matrix, output_idx_type=Type("int32"), grad=False)
    for values, rhs in ((_SQUARE, (3, 2)), (_batch(_SQUARE), (2, 3, 1)), (_SQUARE, (3, 0))):
        for adjoint in (False, True):
            add("MatrixSolve", matrix=V(values=values), rhs=V(*rhs), adjoint=adjoint)
    for values, rhs in ((_LOWER, (3, 2)), (_batch(_LOWER), (2, 3, 1)), (_LOWER, (2, 3, 1))):
        for lower in (True, False):
            for adjoint in (False, True):
                add("MatrixTriangularSolve", matrix=V(values=values), rhs=V(*rhs), lower=lower, adjoint=adjoint)
    for values in (_POSITIVE, _batch(_POSITIVE), [[4.0]]):
        add("Cholesky", input=V(values=values))
        add("SelfAdjointEigV2", input=V(values=values), compute_v=False, outputs=[0])
        add("SelfAdjointEigV2", input=V(values=values), compute_v=True, outputs=[0])
        add("MatrixSquareRoot", input=V(values=values), types=("complex64", "complex128"))
        add("MatrixLogarithm", input=V(values=values), types=("complex64", "complex128"))
        for full in (False, True):
            add("Svd", input=V(values=values), compute_uv=False, outputs=[0], full_matrices=full)
            add("Svd", input=V(values=values), outputs=[0], full_matrices=full, grad=False)
    made.append(
        Case("CholeskyGrad", {"l": V(values=_LOWER), "grad": V(3, 3)}, types=("float32", "float64"), tolerance=2e-4)
    )
    add(
        "MatrixSolveLs",
        matrix=V(values=[[2.0, 0.0], [0.5, 1.5], [1.0, 1.0]]),
        rhs=V(3, 2),
        l2_regularizer=np.float64(0.5).reshape(()),
    )
    add(
        "MatrixSolveLs",
        matrix=V(values=[[2.0, 0.0, 1.0], [0.5, 1.5, 0.0]]),
        rhs=V(2, 2),
        l2_regularizer=np.float64(0.5).reshape(()),
    )
    add(
        "MatrixSolveLs",
        matrix=V(values=[[2.0, 0.0], [0.5, 1.5], [1.0, 1.0]]),
        rhs=V(3, 2),
        l2_regularizer=np.float64(0.0).reshape(()),
        fast=False,
    )
    for pivoting in (True, False):
        add(
            "TridiagonalSolve",
            diagonals=V(values=[[1.0, 0.5, 0.0], [4.0, 3.0, 5.0], [0.0, 1.0, -1.0]]),
            rhs=V(3, 2),
            partial_pivoting=pivoting,
        )
    add("TridiagonalMatMul", superdiag=V(1, 3), maindiag=V(1, 3), subdiag=V(1, 3), rhs=V(3, 2))
    add("BandedTriangularSolve", matrix=V(values=[[2.0, 3.0, 4.0], [0.0, 0.5, 1.0]]), rhs=V(3, 2))
    for op, name in (
        ("MatrixDeterminant", "input"),
        ("MatrixInverse", "input"),
        ("Cholesky", "input"),
        ("Lu", "input"),
        ("LogMatrixDeterminant", "input"),
        ("SelfAdjointEigV2", "input"),
    ):
        add(op, **{name: V(2, 3)}, error="")
        add(op, **{name: V(3)}, error="")
    add("MatrixInverse", input=V(values=[[1.0, 2.0], [2.0, 4.0]]), error="")
    add("Cholesky", input=V(values=[[1.0, 2.0], [2.0, 1.0]]), error="")
    add("MatrixSolve", matrix=V(values=[[1.0, 2.0], [2.0, 4.0]]), rhs=V(2, 1), error="")
    add("MatrixSolve", matrix=V(values=_SQUARE), rhs=V(2, 1), error="")
    add("MatrixTriangularSolve", matrix=V(values=_LOWER), rhs=V(2, 1), error="")
    add("MatrixTriangularSolve", matrix=V(values=[[1.0, 0.0], [2.0, 0.0]]), rhs=V(2, 1), error="")

    for shape in ((4,), (2, 6), (1,), (2, 3, 5)):
        for op in ("FFT", "IFFT"):
            add(op, input=V(*shape), types=("complex64", "complex128"))
        add("RFFT", input=V(*shape), fft_length=i32([shape[-1]]), Tcomplex=Type("complex64"), types=("float32",))
        add("RFFT", input=V(*shape), fft_length=i32([8]), Tcomplex=Type("complex128"), types=("float64",))
        add("IRFFT", input=V(*shape), fft_length=i32([2 * shape[-1] - 1]), Treal=Type("float32"), types=("complex64",))
    for op in ("FFT2D", "IFFT2D"):
        add(op, input=V(2, 3, 4), types=("complex64", "complex128"))
    for op in ("FFT3D", "IFFT3D"):
        add(op, input=V(2, 3, 4), types=("complex64",))
    add("RFFT2D", input=V(2, 3, 4), fft_length=i32(3, 4), types=("float32",))
    add("IRFFT2D", input=V(2, 3, 3), fft_length=i32(3, 4), types=("complex64",))
    add("FFT2D", input=V(4, dtype="complex64"), error="")
    add("RFFT", input=V(4), fft_length=i32(1, 2), error="")
    add("RFFT", input=V(4), fft_length=i32([-1]), error="")
    return made


CASES = _cases()
