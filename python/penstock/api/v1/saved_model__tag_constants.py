"""tf.saved_model.tag_constants."""
FROM = {"saved_model.tag_constants": "GPU SERVING TPU TRAINING"}
