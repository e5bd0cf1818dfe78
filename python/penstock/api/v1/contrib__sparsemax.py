"""tf.contrib.sparsemax."""
FROM = {"contrib.sparsemax": "sparsemax sparsemax_loss"}
