"""Objects that know what they consist of, so that checkpoints can be saved and restored along their attributes."""
