"""tf.io: Example messages, records, functions of op definitions, and queues"""
FROM = {
    "files.tf_record": "TFRecordCompressionType tf_record_iterator",
    "ops.queues.data_flow_ops": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ops.lookup.parsing_ops": "decode_csv decode_raw=decode_raw_v1 parse_example parse_single_example",
    "ops.sparse.sparse_ops": "serialize_many_sparse serialize_sparse",
}
