"""Rewriting that is of use to many."""
