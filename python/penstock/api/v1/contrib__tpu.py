"""tf.contrib.tpu."""
FROM = {
    "estimator.tpu.tpu_config": "InputPipelineConfig RunConfig TPUConfig",
    "estimator.tpu.tpu_estimator": "TPUEstimator TPUEstimatorSpec",
    "distribute.tpu.bfloat16": "bfloat16_scope",
    "distribute.tpu.tpu_ops": "cross_replica_sum",
    "distribute.tpu.tpu_optimizer": "CrossShardOptimizer",
}
