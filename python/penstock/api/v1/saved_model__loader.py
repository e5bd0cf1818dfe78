"""tf.saved_model.loader."""
FROM = {"saved_models.loader_impl": "load maybe_saved_model_directory"}
