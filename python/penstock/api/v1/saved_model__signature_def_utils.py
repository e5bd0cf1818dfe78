"""tf.saved_model.signature_def_utils."""
FROM = {
    "saved_model.signature_def_utils_impl": """
        build_signature_def classification_signature_def is_valid_signature predict_signature_def
        regression_signature_def""",
    "saved_model.method_name_updater": "MethodNameUpdater",
}
