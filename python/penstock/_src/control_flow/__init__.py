"""Conditionals, loops, TensorArrays, mapped functions."""
