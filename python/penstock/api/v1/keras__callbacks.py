"""tf.keras.callbacks."""
FROM = {"keras.callbacks": "Callback"}
