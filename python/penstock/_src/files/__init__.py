"""Files, records, flags, and what programs ask of the platform."""
