"""tf.data.experimental.service, which says that there is none."""
FROM = {
    "data.experimental.ops.data_service_ops": """
        CrossTrainerCache DispatchServer DispatcherConfig ShardingPolicy WorkerConfig WorkerServer distribute
        from_dataset_id register_dataset""",
}
