"""Eager execution: ops that run as they are called."""
