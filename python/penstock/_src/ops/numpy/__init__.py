"""tf.experimental.numpy."""
