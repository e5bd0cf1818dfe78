"""Feature columns: from the features of examples to the inputs of a model."""
