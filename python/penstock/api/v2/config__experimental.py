"""tf.config.experimental."""
FROM = {
    "graph.config": """
        VirtualDeviceConfiguration disable_mlir_bridge enable_mlir_bridge enable_op_determinism
        enable_tensor_float_32_execution get_device_details get_device_policy get_memory_growth get_memory_info
        get_memory_usage get_synchronous_execution get_virtual_device_configuration get_visible_devices
        list_logical_devices=list_logical_devices_v2 list_physical_devices reset_memory_stats set_device_policy
        set_memory_growth set_synchronous_execution
        set_virtual_device_configuration=set_logical_device_configuration set_visible_devices
        tensor_float_32_execution_enabled""",
}
