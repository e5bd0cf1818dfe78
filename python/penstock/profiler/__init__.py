"""tf.profiler: what a graph and its steps cost in time, memory, parameters and floating-point operations."""
