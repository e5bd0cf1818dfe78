"""What programs say to the conversion."""
