"""tf.saved_model."""
FROM = {
    "saved_model.builder_impl": "Builder=SavedModelBuilder",
    "checkpoint.constants": """
        ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB LEGACY_INIT_OP_KEY MAIN_OP_KEY
        SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY
        VARIABLES_FILENAME""",
    "saved_model.load": "load_v2=load",
    "saved_model.load_options": "LoadOptions",
    "saved_model.loader_impl": "contains_saved_model load maybe_saved_model_directory",
    "saved_model.main_op_impl": "main_op_with_restore",
    "saved_model.save": "save",
    "saved_model.save_options": "SaveOptions",
    "saved_model.signature_constants": """
        CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
        REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    "saved_model.signature_def_utils_impl": """
        build_signature_def classification_signature_def is_valid_signature predict_signature_def
        regression_signature_def""",
    "saved_model.simple_save": "simple_save",
    "ops.state.tracking": "Asset=TrackableAsset",
    "saved_model.tag_constants": "GPU SERVING TPU TRAINING",
    "saved_model.utils_impl": "build_tensor_info get_tensor_from_tensor_info",
}
