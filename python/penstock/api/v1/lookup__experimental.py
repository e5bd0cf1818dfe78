"""tf.lookup.experimental"""
FROM = {"ops.lookup_ops": "DenseHashTable MutableHashTable"}
