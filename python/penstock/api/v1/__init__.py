"""TensorFlow 1.15's names; see penstock.api."""
