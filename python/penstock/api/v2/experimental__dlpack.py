"""tf.experimental.dlpack."""
FROM = {
    "core_ops.dlpack": "from_dlpack to_dlpack",
}
