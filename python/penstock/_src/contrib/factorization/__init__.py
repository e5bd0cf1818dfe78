"""tf.contrib.factorization: k-means."""
