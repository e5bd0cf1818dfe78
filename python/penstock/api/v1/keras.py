"""tf.keras."""
FROM = {
    "keras_v1.engine.training": "Model",
}
