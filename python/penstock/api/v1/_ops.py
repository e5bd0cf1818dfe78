"""tf: checks, random numbers, order between ops, queues, gradients, strings, sparse tensors."""
FROM = {
    "control_flow.check_ops": """
        assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal
        assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive
        assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype
        assert_scalar assert_type is_non_decreasing is_numeric_tensor is_strictly_increasing""",
    "control_flow.control_flow_ops": "tuple",
    "ops.queues.data_flow_ops": """
        ConditionalAccumulator ConditionalAccumulatorBase FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase
        RandomShuffleQueue SparseConditionalAccumulator""",
    "gradient.gradients_impl": "AggregationMethod gradients hessians",
    "ops.lookup.lookup_ops": "initialize_all_tables tables_initializer",
    "ops.queues.io_ops": """
        FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader WholeFileReader""",
    "ops.lookup.logging_ops": "Print",
    "control_flow.numerics": "add_check_numerics_ops verify_tensor_all_finite",
    "ops.lookup.parsing_config": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature",
    "ops.lookup.parsing_ops": """
        decode_csv decode_raw=decode_raw_v1 parse_example parse_single_example parse_single_sequence_example""",
    "ops.ragged.ragged_string_ops": "string_split",
    "ops.random.random_ops": """
        multinomial random_crop random_gamma random_normal random_poisson random_shuffle random_uniform
        truncated_normal""",
    "session.session_ops": "delete_session_tensor get_session_handle get_session_tensor",
    "tf_function.script_ops": "numpy_function=numpy_function_v1 py_func",
    "ops.sparse.sparse_ops": """
        deserialize_many_sparse serialize_many_sparse serialize_sparse sparse_add sparse_concat
        sparse_fill_empty_rows sparse_maximum sparse_merge sparse_minimum sparse_reduce_max
        sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape
        sparse_reshape sparse_retain sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul
        sparse_tensor_to_dense sparse_to_dense sparse_to_indicator sparse_transpose""",
    "ops.strings.string_ops": """
        reduce_join regex_replace string_to_hash_bucket=string_to_hash_bucket_v1
        string_to_number=string_to_number_v1 substr=substr_deprecated""",
    "graph.gen": """
        decode_base64 decode_compressed decode_json_example encode_base64 matching_files parse_tensor read_file
        serialize_tensor string_join string_strip string_to_hash_bucket_fast string_to_hash_bucket_strong
        write_file""",
}
