"""tf.experimental."""
FROM = {
    "data.ops.optional_ops": "Optional",
    "graph.dtypes": """
        float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2
        uint4""",
    "graph.extension_type": """
        BatchableExtensionType ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec""",
    "graph.type_dispatch": """dispatch_for_api dispatch_for_binary_elementwise_apis
        dispatch_for_binary_elementwise_assert_apis dispatch_for_unary_elementwise_apis unregister_dispatch_for""",
    "ops.ragged.row_partition": "RowPartition",
    "ops.ragged.dynamic_ragged_shape": "DynamicRaggedShape",
    "graph.context": "async_clear_error async_scope function_executor_type",
}
