"""tf.saved_model.experimental."""
FROM = {
    "saved_models.save": "save",
    "saved_models.save_options": "VariablePolicy",
    "training.tracking.tracking": "TrackableResource",
}
