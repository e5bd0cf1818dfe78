"""tf.saved_model."""
FROM = {
    "saved_models.builder_impl": "Builder=SavedModelBuilder",
    "saved_models.constants": """
        ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB LEGACY_INIT_OP_KEY MAIN_OP_KEY
        SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY
        VARIABLES_FILENAME""",
    "saved_models.load": "load_v2=load",
    "saved_models.load_options": "LoadOptions",
    "saved_models.loader_impl": "contains_saved_model load maybe_saved_model_directory",
    "saved_models.main_op_impl": "main_op_with_restore",
    "saved_models.save": "save",
    "saved_models.save_options": "SaveOptions",
    "saved_models.signature_constants": """
        CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
        REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    "saved_models.signature_def_utils_impl": """
        build_signature_def classification_signature_def is_valid_signature predict_signature_def
        regression_signature_def""",
    "saved_models.simple_save": "simple_save",
    "training.tracking.tracking": "Asset=TrackableAsset",
    "saved_models.tag_constants": "GPU SERVING TPU TRAINING",
    "saved_models.utils_impl": "build_tensor_info get_tensor_from_tensor_info",
}
