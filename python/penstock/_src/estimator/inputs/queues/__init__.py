"""Queues that are fed with arrays."""
