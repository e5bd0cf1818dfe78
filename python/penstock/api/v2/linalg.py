"""tf.linalg, version 2."""
FROM = {
    "ops.linalg.base": "LinearOperator",
    "ops.linalg.block_triangular": "LinearOperatorBlockLowerTriangular",
    "ops.linalg.blocks": "LinearOperatorBlockDiag LinearOperatorKronecker",
    "ops.linalg.circulant": """
        LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorToeplitz""",
    "ops.linalg.updates": "LinearOperatorHouseholder LinearOperatorLowRankUpdate",
    "ops.linalg.dense": "LinearOperatorFullMatrix LinearOperatorLowerTriangular",
    "ops.linalg.diagonal": """
        LinearOperatorDiag LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros""",
    "ops.linalg.permutation": "LinearOperatorPermutation",
    "ops.linalg.tridiagonal": "LinearOperatorTridiag",
    "ops.linalg.products": "LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion",
    "ops.linalg_version_two": "banded_triangular_solve eig eigh_tridiagonal eigvals",
    "ops.linalg_functions": "expm=matrix_exponential lu_matrix_inverse lu_reconstruct lu_solve",
    "framework.gen": """
        band_part=matrix_band_part cholesky cross det=matrix_determinant inv=matrix_inverse logm=matrix_logarithm lu qr
        slogdet=log_matrix_determinant solve=matrix_solve sqrtm=matrix_square_root tensor_diag=diag
        tensor_diag_part=diag_part triangular_solve=matrix_triangular_solve""",
    "ops.array_ops": "diag=matrix_diag diag_part=matrix_diag_part matrix_transpose set_diag=matrix_set_diag",
    "ops.clip_ops": "global_norm",
    "ops.linalg_ops": """
        adjoint cholesky_solve eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals eye logdet lstsq=matrix_solve_ls
        matrix_rank norm=norm_v2 pinv svd tridiagonal_matmul tridiagonal_solve""",
    "ops.math_ops": "matmul matvec tensordot trace",
    "ops.nn_impl": "l2_normalize normalize",
    "ops.einsum_v2": "einsum",
}
