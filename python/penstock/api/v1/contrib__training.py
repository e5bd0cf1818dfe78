"""tf.contrib.training."""
FROM = {"contrib.training.hparam": "HParams parse_values"}
