"""tf.experimental.dtensor."""
FROM = {"distribute.dtensor": "DTensorDataset DVariable Layout MATCH Mesh UNSHARDED"}
