"""Exported models: what they take and give."""
