"""tf.contrib.distribute: strategies by their first names."""
