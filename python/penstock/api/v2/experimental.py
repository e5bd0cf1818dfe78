"""tf.experimental."""
FROM = {
    "data.ops.optional_ops": "Optional",
    "framework.extension_type": "ExtensionType ExtensionTypeSpec",
    "eager.context": "async_clear_error async_scope function_executor_type",
}
