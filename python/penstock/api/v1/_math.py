"""tf: arithmetic, reductions, matrices."""
FROM = {
    "core_ops.clip_ops": "clip_by_average_norm global_norm",
    "ops.metrics.confusion_matrix": "confusion_matrix=confusion_matrix_v1",
    "ops.linalg.linalg_ops": "cholesky_solve matrix_solve_ls norm self_adjoint_eig self_adjoint_eigvals svd",
    "core_ops.math_ops": """
        accumulate_n angle argmax argmin bincount=bincount_v1 conj count_nonzero cumprod div div_no_nan erf
        floordiv imag log_sigmoid logical_xor matmul=matmul_v1 real reduce_all=reduce_all_v1
        reduce_any=reduce_any_v1 reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1
        reduce_mean=reduce_mean_v1 reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1
        sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum to_bfloat16 to_complex128 to_complex64
        to_double to_float to_int32 to_int64 trace unsorted_segment_mean unsorted_segment_sqrt_n""",
    "core_ops.math_ranges": "lin_space=linspace",
    "core_ops.special_math_ops": "einsum lbeta",
    "graph.gen": """
        arg_max arg_min betainc ceil cholesky cross digamma erfc expm1 fft fft2d fft3d floor_div
        floormod=floor_mod ifft ifft2d ifft3d igamma igammac is_finite is_inf is_nan lgamma log log1p
        matrix_determinant matrix_inverse matrix_solve matrix_triangular_solve mod=floor_mod polygamma qr
        reciprocal rint rsqrt segment_max segment_mean segment_min segment_prod segment_sum
        sparse_matmul=sparse_mat_mul squared_difference unsorted_segment_max unsorted_segment_min
        unsorted_segment_prod unsorted_segment_sum zeta""",
}
