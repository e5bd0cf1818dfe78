"""tf.contrib.tpu."""
FROM = {
    "estimator.tpu.tpu_config": "InputPipelineConfig RunConfig TPUConfig",
    "estimator.tpu.tpu_estimator": "TPUEstimator TPUEstimatorSpec",
    "tpu.bfloat16": "bfloat16_scope",
    "tpu.tpu_ops": "cross_replica_sum",
    "tpu.tpu_optimizer": "CrossShardOptimizer",
}
