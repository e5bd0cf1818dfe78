"""Ops by their definitions: attributes, calls, and the functions that are made for Python."""
