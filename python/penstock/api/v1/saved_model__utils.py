"""tf.saved_model.utils."""
FROM = {"saved_model.utils_impl": "build_tensor_info get_tensor_from_tensor_info"}
