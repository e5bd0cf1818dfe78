"""A strategy whose variables are all in one place."""
from penstock._src.distribute.mirrored_strategy import MirroredStrategy


class CentralStorageStrategy(MirroredStrategy):
    """Variables on `parameter_device`, a replica on each of `compute_devices`; here both are one device.

    UnimplementedError: several devices to compute on.
    """

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(compute_devices)
