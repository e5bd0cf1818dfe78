"""tf.__internal__.eager_context."""
FROM = {
    "eager.context": "eager_mode",
}
