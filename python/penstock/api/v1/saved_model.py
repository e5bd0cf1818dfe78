"""tf.saved_model."""
FROM = {
    "saved_model.builder_impl": "Builder=SavedModelBuilder",
    "checkpoint.constants": "LEGACY_INIT_OP_KEY MAIN_OP_KEY",
    "saved_model.load": "load_v2=load",
    "saved_model.loader_impl": "load maybe_saved_model_directory",
    "saved_model.main_op_impl": "main_op_with_restore",
    "saved_model.signature_def_utils_impl": """
        build_signature_def classification_signature_def is_valid_signature predict_signature_def
        regression_signature_def""",
    "saved_model.simple_save": "simple_save",
    "saved_model.utils_impl": "build_tensor_info get_tensor_from_tensor_info",
}
