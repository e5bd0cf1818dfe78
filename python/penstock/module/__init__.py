"""tf.Module."""
