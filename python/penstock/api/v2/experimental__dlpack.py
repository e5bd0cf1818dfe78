"""tf.experimental.dlpack."""
FROM = {
    "eager.dlpack": "from_dlpack to_dlpack",
}
