"""Penstock's implementation, in layers: see docs/architecture.md."""
