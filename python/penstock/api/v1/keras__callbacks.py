"""tf.keras.callbacks."""
FROM = {"keras_v1.callbacks": "Callback"}
