"""tf.estimator.tpu."""
FROM = {
    "estimator.tpu.tpu_config": "InputPipelineConfig RunConfig TPUConfig",
    "estimator.tpu.tpu_estimator": "TPUEstimator TPUEstimatorSpec",
}
