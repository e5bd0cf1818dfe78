"""A strategy with a replica on each device, which here is one."""
from penstock._src.distribute import distribute_lib
from penstock._src.distribute.one_device_strategy import canonical
from penstock._src.graph import errors


class MirroredStrategy(distribute_lib.Strategy):
    """A replica on each device; without `devices`, on the CPU.

    ValueError: no device, or one is there twice. UnimplementedError: several devices.
    """

    def __init__(self, devices=None, cross_device_ops=None):
        names = [canonical(device) for device in (["/cpu:0"] if devices is None else devices)]
        if not names:
            raise ValueError("Got an empty `devices` list and unable to recognize any local devices.")
        if len(set(names)) != len(names):
            raise ValueError(f"No duplicates allowed in `devices` argument: {devices}")
        if len(names) > 1:
            raise errors.UnimplementedError(None, None, "MirroredStrategy has one replica; it was asked for "
                                            f"{len(names)}, on {', '.join(names)}")
        super().__init__(distribute_lib.StrategyExtended(self, names[0]))
