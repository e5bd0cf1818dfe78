"""Arrays and arithmetic: the ops that the machinery itself uses."""
