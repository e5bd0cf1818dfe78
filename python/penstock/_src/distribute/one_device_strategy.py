"""A strategy that puts everything on one device."""
from penstock._src.distribute import distribute_lib
from penstock._src.graph.config import LogicalDevice
from penstock._src.graph.device_spec import DeviceSpecV2

_HOST = DeviceSpecV2(job="localhost", replica=0, task=0)


def canonical(device):
    """The full name of a device of this process: a name, or one of `tf.config.list_logical_devices`."""
    name = device.name if isinstance(device, LogicalDevice) else device
    return _HOST.make_merged_spec(DeviceSpecV2.from_string(name)).to_string()


class OneDeviceStrategy(distribute_lib.Strategy):
    """Variables and computations on one device."""

    def __init__(self, device):
        super().__init__(distribute_lib.StrategyExtended(self, canonical(device)))
