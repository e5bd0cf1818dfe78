"""tf.saved_model.builder."""
FROM = {"saved_models.builder_impl": "SavedModelBuilder"}
