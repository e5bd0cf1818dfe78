"""tf.contrib.losses: tf.losses with the predictions, or logits, before the labels."""
