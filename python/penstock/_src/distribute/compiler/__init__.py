"""tf.xla without a compiler."""
