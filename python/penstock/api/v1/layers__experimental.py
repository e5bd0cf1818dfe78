"""tf.layers.experimental."""
FROM = {"layers.base": "keras_style_scope set_keras_style"}
