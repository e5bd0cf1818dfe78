"""The steps of the conversion, each from a syntax tree to another."""
