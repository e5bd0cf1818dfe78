"""tf.saved_model.builder."""
FROM = {"saved_model.builder_impl": "SavedModelBuilder"}
