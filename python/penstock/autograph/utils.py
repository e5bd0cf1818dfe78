"""What programs set: how much the conversion tells."""
_verbosity = 0


def set_verbosity(level, alsologtostdout=False):
    """How much is told: 0 nothing."""
    global _verbosity
    _verbosity = level


def trace(*args):
    """Prints while a function is traced."""
    print(*args)


def get_verbosity():
    """What set_verbosity has set."""
    return _verbosity


