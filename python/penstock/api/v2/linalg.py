"""tf.linalg, version 2."""
FROM = {
    "ops.linear_operators.base": "LinearOperator",
    "ops.linear_operators.block_triangular": "LinearOperatorBlockLowerTriangular",
    "ops.linear_operators.blocks": "LinearOperatorBlockDiag LinearOperatorKronecker",
    "ops.linear_operators.circulant": """
        LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorToeplitz""",
    "ops.linear_operators.updates": "LinearOperatorHouseholder LinearOperatorLowRankUpdate",
    "ops.linear_operators.dense": "LinearOperatorFullMatrix LinearOperatorLowerTriangular",
    "ops.linear_operators.diagonal": """
        LinearOperatorDiag LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros""",
    "ops.linear_operators.permutation": "LinearOperatorPermutation",
    "ops.linear_operators.tridiagonal": "LinearOperatorTridiag",
    "ops.linear_operators.products": "LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion",
    "ops.linalg.linalg_version_two": "banded_triangular_solve eig eigh_tridiagonal eigvals",
    "ops.linalg.linalg_functions": "expm=matrix_exponential lu_matrix_inverse lu_reconstruct lu_solve",
    "graph.gen": """
        band_part=matrix_band_part cholesky cross det=matrix_determinant inv=matrix_inverse logm=matrix_logarithm lu qr
        slogdet=log_matrix_determinant solve=matrix_solve sqrtm=matrix_square_root tensor_diag=diag
        tensor_diag_part=diag_part triangular_solve=matrix_triangular_solve""",
    "core_ops.array_ops": "diag=matrix_diag diag_part=matrix_diag_part matrix_transpose set_diag=matrix_set_diag",
    "core_ops.clip_ops": "global_norm",
    "ops.linalg.linalg_ops": """
        adjoint cholesky_solve eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals eye logdet lstsq=matrix_solve_ls
        matrix_rank norm=norm_v2 pinv svd tridiagonal_matmul tridiagonal_solve""",
    "core_ops.math_ops": "matmul matvec tensordot trace",
    "ops.nn.nn_impl": "l2_normalize normalize",
    "core_ops.einsum_v2": "einsum",
}
