"""How functions are converted and called."""
