"""What a debugged run left behind, and how one is asked for."""
