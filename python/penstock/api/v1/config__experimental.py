"""tf.config.experimental."""
WITHOUT = "disable_mlir_bridge enable_mlir_bridge enable_op_determinism"
FROM = {
    "graph.config": "list_logical_devices set_virtual_device_configuration",
}
