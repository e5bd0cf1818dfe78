"""tf.experimental.extension_type."""
FROM = {
    "framework.extension_type": "as_dict",
}
