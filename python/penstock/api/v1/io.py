"""tf.io: Example messages, records, what is made from op definitions, and queues"""
FROM = {
    "ops.image_files": "decode_image encode_png is_jpeg",
    "lib.io.tf_record": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    "ops.data_flow_ops": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ops.parsing_config": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
    "ops.parsing_ops": """
        decode_csv decode_raw=decode_raw_v1 parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example""",
    "ops.sparse_ops": "deserialize_many_sparse serialize_many_sparse serialize_sparse",
    "training.input_producers": "match_filenames_once",
    "training.training_util": "write_graph",
    "framework.gen": """
        decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_jpeg
        decode_json_example decode_png decode_proto=decode_proto_v2 encode_base64 encode_jpeg encode_proto
        extract_jpeg_shape matching_files parse_tensor read_file serialize_tensor write_file""",
}
