"""The statistics behind tf.profiler and the views of them."""
