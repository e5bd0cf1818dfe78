"""tf.__internal__.eager_context."""
FROM = {
    "graph.context": "eager_mode",
}
