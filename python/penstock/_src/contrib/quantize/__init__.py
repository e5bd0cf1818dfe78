"""tf.contrib.quantize: networks trained and run as if in 8 bits."""
