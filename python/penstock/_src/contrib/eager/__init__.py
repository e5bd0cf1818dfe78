"""tf.contrib.eager: what is not of eager execution itself."""
