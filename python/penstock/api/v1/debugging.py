"""tf.debugging"""
FROM = {
    "control_flow.check_ops": """
        assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near
        assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive assert_rank
        assert_rank_at_least assert_rank_in assert_scalar is_non_decreasing is_strictly_increasing""",
    "control_flow.numerics": "assert_all_finite=verify_tensor_all_finite",
    "graph.gen": "is_finite is_inf is_nan",
}
