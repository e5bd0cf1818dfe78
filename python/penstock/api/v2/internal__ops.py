"""tf.__internal__.ops."""
FROM = {
    "graph.ops": "get_resource_handle_data",
    "ops.state.resource_variable_ops": "is_resource_variable",
    "ops.metrics.weights_broadcast_ops": "broadcast_weights",
}
