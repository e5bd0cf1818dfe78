"""Devices as the runtime numbers them."""
from penstock import _core
from penstock._src.graph import errors

_device_numbers: dict[str, int] = {}


def device_number(name):
    """The number of the device that a name describes. InvalidArgumentError if there is none."""
    found = _device_numbers.get(name)
    if found is None:
        found = _core.eager_find_device(name or "")
        if found < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Could not satisfy device specification '{name}'. All available devices ["
                f"{', '.join(d.name for d in _core.list_local_devices())}].")
        _device_numbers[name] = found
    return found
