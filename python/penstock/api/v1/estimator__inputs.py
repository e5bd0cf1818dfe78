"""tf.estimator.inputs."""
FROM = {
    "estimator.inputs.numpy_io": "numpy_input_fn",
    "estimator.inputs.pandas_io": "pandas_input_fn",
}
