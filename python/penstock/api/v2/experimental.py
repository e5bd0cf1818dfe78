"""tf.experimental."""
FROM = {
    "eager.context": "async_clear_error async_scope function_executor_type",
}
