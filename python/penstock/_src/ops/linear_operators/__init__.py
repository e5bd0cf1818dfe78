"""tf.linalg.LinearOperator."""
