"""tf.lookup.experimental, version 2."""
FROM = {"ops.lookup_ops": "DenseHashTable MutableHashTable"}
