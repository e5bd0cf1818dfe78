"""tf.lookup.experimental, version 2."""
FROM = {"ops.lookup.lookup_ops": "DenseHashTable MutableHashTable"}
