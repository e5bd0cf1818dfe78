"""tf.test, version 2."""
FROM = {
    "parallel_for.gradient_checker_v2": "compute_gradient",
    "testing.test": """
        Benchmark TestCase assert_equal_graph_def=assert_equal_graph_def_v2 benchmark_config create_local_cluster
        disable_with_predicate gpu_device_name is_built_with_cuda is_built_with_gpu_support is_built_with_rocm
        is_built_with_xla is_cpu_target_available is_gpu_available main with_eager_op_as_function""",
}
