"""tf.tpu."""
FROM = {
    "distribute.tpu.bfloat16": "bfloat16_scope",
    "distribute.tpu.tpu_ops": "cross_replica_sum",
    "distribute.tpu.tpu_optimizer": "CrossShardOptimizer",
}
