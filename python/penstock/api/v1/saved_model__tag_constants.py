"""tf.saved_model.tag_constants."""
FROM = {"saved_models.tag_constants": "GPU SERVING TPU TRAINING"}
