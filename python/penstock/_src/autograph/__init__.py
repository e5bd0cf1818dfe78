"""Python's control flow over tensors as control flow of the graph. Programs know this package as tf.autograph."""
