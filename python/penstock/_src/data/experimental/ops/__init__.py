"""Datasets behind tf.data.experimental."""
