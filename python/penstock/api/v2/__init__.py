"""The names of TensorFlow 2, as far as they are served."""
