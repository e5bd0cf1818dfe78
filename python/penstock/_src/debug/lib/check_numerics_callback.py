"""tf.debugging.enable_check_numerics: results that are NaN or infinite end the step."""
from penstock import _core

_enabled = False


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """From now on each op that gives NaN or infinity, eagerly, in functions and in sessions, raises
    InvalidArgumentError with the op's type, the output's dtype and shape, and how many such values there are. The error
    of an op in a graph has the Python stack that made it, whose lengths the two limits do not change.

    Ops that only move values are not looked at.
    """
    del stack_height_limit, path_length_limit
    _switch(True)


def disable_check_numerics():
    """Ends it."""
    _switch(False)


def _switch(on):
    global _enabled
    if on is not _enabled:
        _core.check_numerics(on)
    _enabled = on
