"""tf.math, version 2."""
FROM = {
    "graph.gen": """
        acos acosh asin asinh atan atan2 atanh betainc ceil cos cosh digamma erfc erfinv exp expm1 floor
        floormod=floor_mod greater greater_equal igamma igammac invert_permutation is_finite is_inf is_nan less
        less_equal lgamma log log1p logical_and logical_not logical_or maximum minimum mod=floor_mod ndtri
        nextafter=next_after polygamma reciprocal rint rsqrt segment_max segment_mean segment_min segment_prod
        segment_sum sin sinh softplus softsign squared_difference tan unsorted_segment_max
        unsorted_segment_min unsorted_segment_prod unsorted_segment_sum xdivy xlog1py xlogy zeta""",
    "ops.ragged.bincount_ops": "bincount",
    "control_flow.check_ops": "is_non_decreasing is_strictly_increasing",
    "ops.metrics.confusion_matrix": "confusion_matrix",
    "core_ops.math_ops": """
        abs accumulate_n add add_n angle=angle_v2 argmax=argmax_v2 argmin=argmin_v2 bessel_i0e bessel_i1e conj
        count_nonzero=count_nonzero_v2 cumprod cumsum cumulative_logsumexp divide divide_no_nan=div_no_nan equal erf
        floordiv imag log_sigmoid logical_xor multiply multiply_no_nan negative not_equal polyval pow real
        reciprocal_no_nan reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean
        reduce_min reduce_prod reduce_std reduce_sum reduce_variance round scalar_mul sigmoid sign sqrt
        square subtract tanh truediv unsorted_segment_mean unsorted_segment_sqrt_n""",
    "core_ops.math_ranges": "sobol_sample",
    "ops.nn.nn_version_two": "approx_max_k approx_min_k",
    "ops.nn.nn_impl": "l2_normalize zero_fraction",
    "ops.nn.nn_activation": "in_top_k=in_top_k_v2 log_softmax=log_softmax_v2 softmax=softmax_v2 top_k",
    "core_ops.special_math_ops": "bessel_i0 bessel_i1 erfcinv lbeta",
}
