"""tf.debugging, version 2."""
FROM = {
    "graph.config": "get_log_device_placement set_log_device_placement",
    "graph.gen": "check_numerics",
    "control_flow.check_ops": """
        assert_equal=assert_equal_v2 assert_greater=assert_greater_v2 assert_greater_equal=assert_greater_equal_v2
        assert_integer assert_less=assert_less_v2 assert_less_equal=assert_less_equal_v2 assert_near=assert_near_v2
        assert_negative=assert_negative_v2 assert_non_negative=assert_non_negative_v2
        assert_non_positive=assert_non_positive_v2 assert_none_equal=assert_none_equal_v2
        assert_positive=assert_positive_v2 assert_proper_iterable assert_rank=assert_rank_v2
        assert_rank_at_least=assert_rank_at_least_v2 assert_rank_in=assert_rank_in_v2 assert_same_float_dtype
        assert_scalar=assert_scalar_v2 assert_shapes assert_type is_numeric_tensor""",
    "control_flow.control_flow_ops": "Assert",
    "control_flow.numerics": "assert_all_finite=verify_tensor_all_finite_v2",
    "debug.lib.check_numerics_callback": "disable_check_numerics enable_check_numerics",
    "base.traceback_utils": "disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled",
}
