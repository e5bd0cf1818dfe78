"""tf.saved_model.loader."""
FROM = {"saved_model.loader_impl": "load maybe_saved_model_directory"}
