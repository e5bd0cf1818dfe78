"""tf.math"""
FROM = {
    "control_flow.check_ops": "is_non_decreasing is_strictly_increasing",
    "ops.metrics.confusion_matrix": "confusion_matrix=confusion_matrix_v1",
    "core_ops.math_ops": """
        abs accumulate_n add add_n angle argmax argmin bessel_i0e bessel_i1e bincount=bincount_v1 conj count_nonzero
        cumprod cumsum cumulative_logsumexp divide divide_no_nan=div_no_nan equal erf floordiv imag log_sigmoid
        logical_xor multiply multiply_no_nan negative not_equal polyval pow real reciprocal_no_nan
        reduce_all=reduce_all_v1 reduce_any=reduce_any_v1 reduce_euclidean_norm
        reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1
        reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_std reduce_sum=reduce_sum_v1 reduce_variance
        round scalar_mul sigmoid sign sqrt square subtract tanh truediv unsorted_segment_mean
        unsorted_segment_sqrt_n""",
    "ops.nn.nn_version_two": "approx_max_k approx_min_k",
    "ops.nn.nn_impl": "l2_normalize zero_fraction",
    "ops.nn.nn_ops": "in_top_k log_softmax softmax top_k=top_k_v1",
    "core_ops.special_math_ops": "bessel_i0 bessel_i1 erfcinv lbeta",
    "graph.gen": """
        acos acosh asin asinh atan atan2 atanh betainc ceil cos cosh digamma erfc erfinv exp expm1 floor
        floormod=floor_mod greater greater_equal igamma igammac invert_permutation is_finite is_inf is_nan less
        less_equal lgamma log log1p logical_and logical_not logical_or maximum minimum mod=floor_mod
        ndtri nextafter=next_after polygamma reciprocal rint rsqrt segment_max segment_mean segment_min segment_prod
        segment_sum sin sinh softplus softsign squared_difference tan unsorted_segment_max unsorted_segment_min
        unsorted_segment_prod unsorted_segment_sum xdivy xlog1py xlogy zeta""",
}
