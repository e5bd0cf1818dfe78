"""tf.lookup.experimental"""
FROM = {"ops.lookup.lookup_ops": "DenseHashTable MutableHashTable"}
