"""Bodies of functions as graphs, their definitions, specs and caches."""
