"""What is known of Python code: its source, its names."""
