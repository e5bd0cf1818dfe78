"""tf.contrib.rnn: further cells, wrappers and networks."""
