"""tf.tpu."""
FROM = {
    "tpu.bfloat16": "bfloat16_scope",
    "tpu.tpu_ops": "cross_replica_sum",
    "tpu.tpu_optimizer": "CrossShardOptimizer",
}
