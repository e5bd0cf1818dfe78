"""tf.function: traces, concrete functions, their gradients."""
