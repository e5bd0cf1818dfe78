"""TensorFlow's modules that register gradients of ops when they are imported; here definitions of ops have them."""
