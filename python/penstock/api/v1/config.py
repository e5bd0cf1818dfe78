"""tf.config."""
FROM = {
    "graph.config": "experimental_list_devices list_logical_devices",
}
