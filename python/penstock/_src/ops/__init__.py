"""Ops by subject."""
