"""tf.distribute.experimental."""
WITHOUT = "ValueContext"
