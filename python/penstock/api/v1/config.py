"""tf.config."""
FROM = {
    "framework.config": """
        LogicalDevice PhysicalDevice get_soft_device_placement list_logical_devices list_physical_devices
        set_soft_device_placement experimental_run_functions_eagerly=run_functions_eagerly""",
}
