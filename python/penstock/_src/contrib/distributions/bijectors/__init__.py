"""tf.contrib.distributions.bijectors: maps of numbers, vectors and matrices, and what puts them together."""
