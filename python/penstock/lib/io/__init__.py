"""Files and directories by function, as TensorFlow's own modules use them."""
