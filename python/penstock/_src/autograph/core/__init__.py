"""What conversion is asked for, and where."""
