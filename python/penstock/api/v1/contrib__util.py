"""tf.contrib.util."""
FROM = {"framework.tensor_util": "constant_value make_ndarray make_tensor_proto"}
