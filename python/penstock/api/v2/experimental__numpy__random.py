"""tf.experimental.numpy.random."""
FROM = {"ops.numpy.np_random": "poisson rand randint randn random seed standard_normal uniform"}
