"""tf.saved_model, version 2."""
FROM = {
    "saved_models.constants": """
        ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB SAVED_MODEL_FILENAME_PB
        SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY VARIABLES_FILENAME""",
    "saved_models.load": "load",
    "saved_models.load_options": "LoadOptions",
    "saved_models.loader_impl": "contains_saved_model",
    "saved_models.save": "save",
    "saved_models.save_options": "SaveOptions",
    "saved_models.signature_constants": """
        CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
        REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    "saved_models.tag_constants": "GPU SERVING TPU TRAINING",
    "training.tracking.tracking": "Asset=TrackableAsset",
}
