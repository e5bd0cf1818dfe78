"""Debugging of pipelines: their functions run eagerly, one element after the other."""
from penstock._src.graph import ops

_enabled = False


def enable_debug_mode():
    """From now on functions that are passed to datasets run as Python, where `print` and debuggers see elements, and
    transformations make one element at a time. ValueError unless executing eagerly."""
    global _enabled
    if not ops.executing_eagerly():
        raise ValueError("`enable_debug_mode() is only supported in eager mode.")
    _enabled = True


def enabled():
    """Whether pipelines are debugged."""
    return _enabled
