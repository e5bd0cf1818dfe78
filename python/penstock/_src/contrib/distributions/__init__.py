"""tf.contrib.distributions: more families than tf.distributions has."""
