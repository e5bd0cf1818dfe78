"""Sessions, feeds and fetches, servers."""
