"""Less usual datasets. Programs of version 2 know this package as tf.data.experimental."""
