"""tf.train.experimental."""
FROM = {
    "checkpoint.sharding": "MaxShardSizePolicy ShardByTaskPolicy ShardableTensor ShardingCallback",
    "checkpoint.python_state": "PythonState",
}
