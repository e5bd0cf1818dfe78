"""Input pipelines: datasets and iterators. Programs of version 2 know this package as tf.data."""
