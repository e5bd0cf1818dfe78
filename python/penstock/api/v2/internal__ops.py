"""tf.__internal__.ops."""
FROM = {
    "framework.ops": "get_resource_handle_data",
    "ops.resource_variable_ops": "is_resource_variable",
    "ops.weights_broadcast_ops": "broadcast_weights",
}
