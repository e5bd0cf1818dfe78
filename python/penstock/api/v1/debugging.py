"""tf.debugging"""
FROM = {
    "control_flow.check_ops": """
        assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal
        assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive
        assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype
        assert_scalar assert_shapes assert_type is_non_decreasing is_numeric_tensor is_strictly_increasing""",
    "control_flow.control_flow_ops": "Assert",
    "control_flow.numerics": "assert_all_finite=verify_tensor_all_finite",
    "graph.config": "get_log_device_placement set_log_device_placement",
    "graph.gen": "check_numerics is_finite is_inf is_nan",
    "debug.lib.check_numerics_callback": "disable_check_numerics enable_check_numerics",
    "base.traceback_utils": "disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled",
}
