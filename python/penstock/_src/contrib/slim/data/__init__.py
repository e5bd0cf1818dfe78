"""tf.contrib.slim's way from files of examples to tensors: a Dataset says what there is, a DataProvider reads it."""
