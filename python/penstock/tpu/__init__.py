"""What programs for TPUs use, on the CPU: one shard."""
