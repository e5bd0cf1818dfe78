"""What the conversion tells."""
