"""tf.keras.callbacks."""
FROM = {"keras.v1.callbacks": "Callback"}
