"""`tf.experimental.numpy`: NumPy's functions, with its rules of types, on tensors."""
