"""tf.contrib.metrics."""
FROM = {"contrib.metrics.classification": "accuracy"}
