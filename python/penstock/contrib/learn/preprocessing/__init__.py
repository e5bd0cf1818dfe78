"""Documents as numbers."""
