"""tf.keras."""
FROM = {
    "keras.engine.training": "Model",
}
