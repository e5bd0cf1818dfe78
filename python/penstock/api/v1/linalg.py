"""tf.linalg"""
FROM = {
    "ops.array_ops": """
        diag=matrix_diag diag_part=matrix_diag_part matrix_transpose set_diag=matrix_set_diag
        transpose=matrix_transpose""",
    "ops.clip_ops": "global_norm",
    "ops.linalg_ops": """
        adjoint cholesky_solve eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals eye logdet
        lstsq=matrix_solve_ls matrix_rank norm pinv svd tridiagonal_matmul tridiagonal_solve""",
    "ops.math_ops": "matmul=matmul_v1 matvec tensordot trace",
    "ops.nn_impl": "l2_normalize normalize",
    "ops.special_math_ops": "einsum",
    "ops.linalg.base": "LinearOperator",
    "ops.linalg.blocks": "LinearOperatorBlockDiag LinearOperatorKronecker",
    "ops.linalg.circulant": """
        LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorToeplitz""",
    "ops.linalg.updates": "LinearOperatorHouseholder LinearOperatorLowRankUpdate",
    "ops.linalg.dense": "LinearOperatorFullMatrix LinearOperatorLowerTriangular",
    "ops.linalg.diagonal": """
        LinearOperatorDiag LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros""",
    "ops.linalg.products": "LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion",
    "ops.linalg_functions": "expm=matrix_exponential lu_matrix_inverse lu_reconstruct lu_solve",
    "ops.linalg_version_two": "eigh_tridiagonal",
    "framework.gen": """
        band_part=matrix_band_part cholesky cross det=matrix_determinant inv=matrix_inverse
        logm=matrix_logarithm lu qr slogdet=log_matrix_determinant solve=matrix_solve sqrtm=matrix_square_root
        tensor_diag=diag tensor_diag_part=diag_part triangular_solve=matrix_triangular_solve""",
}
