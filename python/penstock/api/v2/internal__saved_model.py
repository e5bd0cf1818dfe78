"""tf.__internal__.saved_model."""
FROM = {
    "saved_models.builder_impl": "SavedModelBuilder",
    "saved_models.load": "load_partial",
    "saved_models.loader_impl": "parse_saved_model",
    "saved_models.nested_structure_coder": "decode_proto encode_structure",
}
