"""Input functions of arrays."""
