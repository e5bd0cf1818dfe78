"""tf.contrib.eager.metrics."""
FROM = {
    "contrib.eager.metrics": "Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric SparseAccuracy",
}
