"""TPU's ops on the CPU."""
