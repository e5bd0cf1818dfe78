"""tf: arithmetic, reductions, matrices."""
FROM = {
    "core_ops.clip_ops": "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm",
    "ops.metrics.confusion_matrix": "confusion_matrix=confusion_matrix_v1",
    "ops.nn.histogram_ops": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.linalg.linalg_ops": "cholesky_solve eye matrix_solve_ls norm self_adjoint_eig self_adjoint_eigvals svd",
    "core_ops.math_ops": """
        abs accumulate_n add add_n angle argmax argmin bincount=bincount_v1 cast complex conj count_nonzero cumprod
        cumsum div div_no_nan divide equal erf floordiv imag log_sigmoid logical_xor matmul=matmul_v1 multiply negative
        not_equal pow range real reduce_all=reduce_all_v1 reduce_any=reduce_any_v1
        reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1
        reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1 round saturate_cast
        scalar_mul sigmoid sign sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum sqrt square
        subtract tanh tensordot to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64
        trace truediv unsorted_segment_mean unsorted_segment_sqrt_n""",
    "core_ops.math_ranges": "lin_space=linspace linspace",
    "core_ops.special_math_ops": "einsum lbeta",
    "graph.gen": """
        acos acosh arg_max arg_min asin asinh atan atan2 atanh betainc ceil cholesky cos cosh cross digamma
        erfc exp expm1 fft fft2d fft3d floor floor_div floormod=floor_mod greater greater_equal ifft ifft2d
        ifft3d igamma igammac is_finite is_inf is_nan less less_equal lgamma log
        log1p logical_and logical_not logical_or matrix_determinant matrix_inverse matrix_solve
        matrix_square_root matrix_triangular_solve maximum minimum mod=floor_mod polygamma qr realdiv=real_div
        reciprocal rint rsqrt segment_max segment_mean segment_min segment_prod segment_sum sin sinh
        sparse_matmul=sparse_mat_mul squared_difference tan truncatediv=truncate_div truncatemod=truncate_mod
        unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum zeta""",
}
