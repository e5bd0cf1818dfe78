"""tf.__internal__.dispatch."""
FROM = {
    "graph.dispatchers": "GlobalOpDispatcher OpDispatcher add_dispatch_support",
}
