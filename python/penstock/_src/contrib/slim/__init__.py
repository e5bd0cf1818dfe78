"""tf.contrib.slim: training and evaluation loops around models made of layers."""
