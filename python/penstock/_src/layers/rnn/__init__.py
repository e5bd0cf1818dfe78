"""Cells and recurrent networks."""
