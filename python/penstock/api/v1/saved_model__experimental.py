"""tf.saved_model.experimental."""
WITHOUT = "Fingerprint read_fingerprint"
FROM = {
    "saved_model.save": "save",
}
