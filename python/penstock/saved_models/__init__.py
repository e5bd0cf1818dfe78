"""tf.saved_model: models with their variables, files and signatures, for serving."""
