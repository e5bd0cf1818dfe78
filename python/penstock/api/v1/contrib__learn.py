"""tf.contrib.learn."""
FROM = {"contrib.learn.mode_keys": "ModeKeys"}
