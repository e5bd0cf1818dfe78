"""tf.experimental.dtensor: tensors cut over the devices of a mesh, which are refused.

Programs that would use them if they were asked to can be imported, and can ask whether a value is one.
"""
from penstock._src.graph import errors

UNSHARDED = "unsharded"
MATCH = "match"


class _Refused:
    def __init__(self, *args, **kwargs):
        raise errors.UnimplementedError(None, None, f"tf.experimental.dtensor.{type(self).__name__} is not there")


class Mesh(_Refused):
    """Devices in rows."""


class Layout(_Refused):
    """Which dimension of a tensor is cut along which of a mesh."""


class DVariable(_Refused):
    """A variable that is cut."""


class DTensorDataset(_Refused):
    """A dataset whose elements are cut."""
