"""tf.summary: what a program reports of its training, and the event files that TensorBoard reads."""
