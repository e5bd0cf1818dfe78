"""Savers, object-based checkpoints, meta graphs."""
