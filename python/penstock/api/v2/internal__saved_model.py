"""tf.__internal__.saved_model."""
FROM = {
    "saved_model.builder_impl": "SavedModelBuilder",
    "saved_model.load": "load_partial",
    "saved_model.loader_impl": "parse_saved_model",
    "data.nested_structure_coder": "decode_proto encode_structure",
}
