"""Feature columns: from the features of examples to the inputs of a model. Programs of version 2 know this package as
tf.feature_column."""
