"""tf.saved_model.experimental, version 2."""
FROM = {
    "saved_models.fingerprinting": "Fingerprint read_fingerprint",
    "saved_models.save_options": "VariablePolicy",
    "training.tracking.tracking": "TrackableResource",
}
