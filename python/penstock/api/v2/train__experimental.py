"""tf.train.experimental."""
FROM = {
    "training.saving.sharding": "MaxShardSizePolicy ShardByTaskPolicy ShardableTensor ShardingCallback",
    "training.tracking.python_state": "PythonState",
}
