"""Device names merged: what scopes, from the outside in, make of them."""
from typing import Any

from penstock._src.graph.device_spec import DeviceSpecV1, DeviceSpecV2  # noqa: F401

DeviceSpec = DeviceSpecV1


def check_valid(spec):
    """ValueError unless `spec` is a device name."""
    DeviceSpec.from_string(spec)


def is_device_spec(obj):
    """Whether `obj` is a DeviceSpec of either version."""
    return isinstance(obj, DeviceSpecV2)


def canonical_name(device):
    """The full form of a name or spec; "" for None."""
    if device is None:
        return ""
    return device.to_string() if is_device_spec(device) else DeviceSpecV2.from_string(device).to_string()


_merged_names: dict[tuple, str] = {}


def merge_names(outer, inner):
    """The name `inner` completed by the parts that only `outer` names."""
    key = (outer, inner)
    found = _merged_names.get(key)
    if found is None:
        found = DeviceSpecV2.from_string(outer).make_merged_spec(DeviceSpecV2.from_string(inner)).to_string()
        _merged_names[key] = found
    return found


class MergeDevice:
    """A device function that completes a node's device by the parts of a spec."""

    def __init__(self, spec):
        self._name = spec.to_string() if is_device_spec(spec) else DeviceSpecV2.from_string(spec).to_string()

    def __call__(self, node_def):
        return DeviceSpec.from_string(merge_names(self._name, node_def.device or ""))

    def shortcut_string_merge(self, node_def):
        """The completed name."""
        return merge_names(self._name, node_def.device or "")

    @property
    def is_null_merge(self):
        """Whether it changes nothing."""
        return not self._name


_mergers: dict[Any, MergeDevice] = {}


def merge_device(spec):
    """The MergeDevice of a name or spec, the same one for the same name. ValueError if it is no device name."""
    if isinstance(spec, MergeDevice):
        return spec
    if isinstance(spec, tuple) and hasattr(spec, "device_type") and hasattr(spec, "name"):  # a LogicalDevice
        spec = spec.name
    key = spec.to_string() if is_device_spec(spec) else spec
    if key not in _mergers:
        _mergers[key] = MergeDevice(spec)
    return _mergers[key]
