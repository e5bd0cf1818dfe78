"""What a graph and its steps cost in time, memory, parameters and floating-point operations. Programs of version 2 know
this package as tf.profiler."""
