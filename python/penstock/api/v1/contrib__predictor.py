"""tf.contrib.predictor."""
FROM = {"contrib.predictor": "from_estimator from_saved_model"}
