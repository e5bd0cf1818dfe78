"""tf.io: Example messages, records, what is made from op definitions, and queues"""
FROM = {
    "ops.image.image_files": "decode_image encode_png is_jpeg",
    "files.tf_record": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    "ops.queues.data_flow_ops": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ops.lookup.parsing_config": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
    "ops.lookup.parsing_ops": """
        decode_csv decode_raw=decode_raw_v1 parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example""",
    "ops.sparse.sparse_ops": "deserialize_many_sparse serialize_many_sparse serialize_sparse",
    "training.input_producers": "match_filenames_once",
    "checkpoint.training_util": "write_graph",
    "graph.gen": """
        decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_jpeg
        decode_json_example decode_png decode_proto=decode_proto_v2 encode_base64 encode_jpeg encode_proto
        extract_jpeg_shape matching_files parse_tensor read_file serialize_tensor write_file""",
}
