"""tf.saved_model.experimental."""
FROM = {
    "saved_model.save": "save",
    "saved_model.save_options": "VariablePolicy",
    "ops.state.tracking": "TrackableResource",
}
