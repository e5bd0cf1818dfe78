"""tf.contrib.losses: losses with the predictions, or logits, before the labels."""
