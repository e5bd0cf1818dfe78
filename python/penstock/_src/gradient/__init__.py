"""Tapes, and gradients of graphs."""
