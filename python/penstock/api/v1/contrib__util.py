"""tf.contrib.util."""
FROM = {"graph.tensor_util": "constant_value make_ndarray make_tensor_proto"}
