"""tensorflow.python.tf2: whether the process behaves as version 2."""
from penstock.framework.mode import mode


def enabled():
    """True in programs of version 2."""
    return mode.eager and mode.resource_variables and mode.tensor_equality
