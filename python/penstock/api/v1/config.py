"""tf.config."""
FROM = {
    "graph.config": """
        LogicalDevice LogicalDeviceConfiguration PhysicalDevice experimental_functions_run_eagerly=functions_run_eagerly
        experimental_list_devices experimental_run_functions_eagerly=run_functions_eagerly functions_run_eagerly
        get_logical_device_configuration
        get_soft_device_placement get_visible_devices list_logical_devices list_physical_devices run_functions_eagerly
        set_logical_device_configuration set_soft_device_placement set_visible_devices""",
}
