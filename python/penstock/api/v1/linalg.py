"""tf.linalg"""
WITHOUT = """
    LinearOperatorBlockLowerTriangular LinearOperatorPermutation LinearOperatorTridiag banded_triangular_solve
    eig eigvals"""
FROM = {
    "core_ops.array_ops": "transpose=matrix_transpose",
    "ops.linalg.linalg_ops": "norm",
    "core_ops.math_ops": "matmul=matmul_v1",
    "core_ops.special_math_ops": "einsum",
}
