"""TPUEstimator on the CPU."""
