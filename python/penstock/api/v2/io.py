"""tf.io, version 2."""
FROM = {
    "ops.image.image_files": "decode_image encode_png is_jpeg",
    "files.tf_record": "TFRecordOptions TFRecordWriter",
    "ops.lookup.parsing_config": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
    "ops.lookup.parsing_ops": """
        decode_csv=decode_csv_v2 decode_raw parse_example=parse_example_v2 parse_sequence_example
        parse_single_example=parse_single_example_v2 parse_single_sequence_example""",
    "graph.gen": """
        decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_jpeg decode_json_example
        decode_png decode_proto=decode_proto_v2 encode_base64 encode_jpeg encode_proto extract_jpeg_shape
        matching_files parse_tensor read_file serialize_tensor write_file""",
    "training.input_producers": "match_filenames_once",
    "checkpoint.training_util": "write_graph",
    "ops.sparse.sparse_ops": """
        deserialize_many_sparse serialize_many_sparse=serialize_many_sparse_v2 serialize_sparse=serialize_sparse_v2""",
}
