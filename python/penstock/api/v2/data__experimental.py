"""tf.data.experimental"""
FROM = {
    "data.experimental.ops.batching": """
        dense_to_ragged_batch dense_to_sparse_batch map_and_batch unbatch""",
    "data.experimental.ops.cardinality": "assert_cardinality cardinality pad_to_cardinality",
    "data.experimental.ops.counter": "Counter=CounterV2",
    "data.experimental.ops.grouping": "Reducer bucket_by_sequence_length group_by_reducer group_by_window",
    "data.experimental.ops.interleave_ops": """
        choose_from_datasets=choose_from_datasets_v2 parallel_interleave
        sample_from_datasets=sample_from_datasets_v2""",
    "data.experimental.ops.io": "load save",
    "data.experimental.ops.iterator_ops": "CheckpointInputPipelineHook make_saveable_from_iterator",
    "data.experimental.ops.lookup_ops": "DatasetInitializer index_table_from_dataset table_from_dataset",
    "data.experimental.ops.parsing_ops": "parse_example_dataset",
    "data.experimental.ops.prefetching_ops": "copy_to_device prefetch_to_device",
    "data.experimental.ops.random_access": "at",
    "data.experimental.ops.readers": """
        CsvDataset=CsvDatasetV2 SqlDataset=SqlDatasetV2
        make_batched_features_dataset=make_batched_features_dataset_v2 make_csv_dataset=make_csv_dataset_v2""",
    "data.experimental.ops.resampling": "rejection_resample",
    "data.experimental.ops.simple": """
        enumerate_dataset get_single_element ignore_errors scan shuffle_and_repeat take_while unique""",
    "data.experimental.ops.snapshot": "snapshot",
    "data.experimental.ops.stats_aggregator": "StatsAggregator=StatsAggregatorV2",
    "data.experimental.ops.stats_ops": "bytes_produced_stats latency_stats",
    "data.experimental.ops.writers": "TFRecordWriter",
    "data.ops.debug_mode": "enable_debug_mode",
    "data.ops.dataset_ops": """
        AUTOTUNE INFINITE_CARDINALITY=INFINITE SHARD_HINT UNKNOWN_CARDINALITY=UNKNOWN from_variant get_structure
        to_variant""",
    "data.ops.iterator_ops": "get_next_as_optional",
    "data.ops.optional_ops": "Optional",
    "data.ops.options": """
        AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions ExternalStatePolicy MapVectorizationOptions
        OptimizationOptions ServiceOptions StatsOptions ThreadingOptions""",
    "data.ops.sources": "RandomDataset=RandomDatasetV2 from_list",
}
