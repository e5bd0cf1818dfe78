"""Metrics and losses."""
