"""tensorflow.python.tf2: whether the process behaves as version 2."""
from penstock._src.base.mode import mode


def enabled():
    """True in programs of version 2, also in those that build graphs after all."""
    return mode.v2_behavior
