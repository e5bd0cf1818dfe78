"""Sessions and hooks that debug."""
