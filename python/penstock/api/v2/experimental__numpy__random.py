"""tf.experimental.numpy.random."""
FROM = {"ops.numpy_ops.np_random": "poisson rand randint randn random seed standard_normal uniform"}
