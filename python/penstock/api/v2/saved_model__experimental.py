"""tf.saved_model.experimental, version 2."""
FROM = {
    "saved_model.fingerprinting": "Fingerprint read_fingerprint",
    "saved_model.save_options": "VariablePolicy",
    "ops.state.tracking": "TrackableResource",
}
