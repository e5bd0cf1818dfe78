"""tf.saved_model, version 2."""
FROM = {
    "checkpoint.constants": """
        ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB SAVED_MODEL_FILENAME_PB
        SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY VARIABLES_FILENAME""",
    "saved_model.load": "load",
    "saved_model.load_options": "LoadOptions",
    "saved_model.loader_impl": "contains_saved_model",
    "saved_model.save": "save",
    "saved_model.save_options": "SaveOptions",
    "saved_model.signature_constants": """
        CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
        REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    "saved_model.tag_constants": "GPU SERVING TPU TRAINING",
    "ops.state.tracking": "Asset=TrackableAsset",
}
