"""Ragged tensors: values, and where the rows of each ragged dimension begin."""
