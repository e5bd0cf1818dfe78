"""What the conversion tells, and how much of it: set_verbosity, or AUTOGRAPH_VERBOSITY in the environment."""
import os
import sys

from penstock._src.base import tf_logging

VERBOSITY_VAR_NAME = "AUTOGRAPH_VERBOSITY"
DEFAULT_VERBOSITY = 0

verbosity_level = None
echo_log_to_stdout = hasattr(sys, "ps1")  # at a prompt


def set_verbosity(level, alsologtostdout=False):
    """How much is told: 0 nothing but warnings. alsologtostdout: it is printed, too."""
    global verbosity_level, echo_log_to_stdout
    verbosity_level, echo_log_to_stdout = level, alsologtostdout


def get_verbosity():
    """What set_verbosity has set, or the environment."""
    return verbosity_level if verbosity_level is not None else int(os.getenv(VERBOSITY_VAR_NAME, DEFAULT_VERBOSITY))


def has_verbosity(level):
    """Whether that much is told."""
    return get_verbosity() >= level


def trace(*args):
    """Prints while a function is traced."""
    print(*args)


def _tell(function, begin, msg, args, kwargs):
    function(msg, *args, **kwargs)
    if echo_log_to_stdout:
        print(begin + (msg % args if args else msg), flush=True)


def error(level, msg, *args, **kwargs):
    """Logs an error if that much is told."""
    if has_verbosity(level):
        _tell(tf_logging.error, "ERROR: ", msg, args, kwargs)


def log(level, msg, *args, **kwargs):
    """Logs a message if that much is told."""
    if has_verbosity(level):
        _tell(tf_logging.info, "", msg, args, kwargs)


def warning(msg, *args, **kwargs):
    """Logs a warning."""
    _tell(tf_logging.warning, "WARNING: ", msg, args, kwargs)
