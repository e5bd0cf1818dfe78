"""tf.data.experimental"""
FROM = {
    "data.experimental.ops.batching": "map_and_batch_with_legacy_function",
    "data.experimental.ops.counter": "Counter=CounterV1",
    "data.experimental.ops.interleave_ops": """
        choose_from_datasets=choose_from_datasets_v1 sample_from_datasets=sample_from_datasets_v1""",
    "data.ops.sources": "RandomDataset=RandomDatasetV1",
    "data.experimental.ops.readers": """
        CsvDataset=CsvDatasetV1 SqlDataset=SqlDatasetV1
        make_batched_features_dataset=make_batched_features_dataset_v1 make_csv_dataset=make_csv_dataset_v1""",
    "data.experimental.ops.stats_aggregator": "StatsAggregator=StatsAggregatorV1",
    "data.ops.dataset_ops": "DatasetStructure=DatasetSpec",
    "data.ops.optional_ops": "OptionalStructure=OptionalSpec",
    "data.util.structure": """
        RaggedTensorStructure=ragged_tensor_structure SparseTensorStructure=sparse_tensor_structure
        TensorStructure=tensor_structure""",
    "graph.type_spec": "Structure=TypeSpec",
}
