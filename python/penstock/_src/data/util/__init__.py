"""What datasets know of their elements."""
