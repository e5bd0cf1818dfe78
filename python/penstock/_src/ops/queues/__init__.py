"""Queues, readers, staging."""
