"""tf.experimental.extension_type."""
FROM = {
    "graph.extension_type": "as_dict",
}
