"""tf.config.experimental."""
FROM = {
    "framework.config": "list_logical_devices list_physical_devices",
}
