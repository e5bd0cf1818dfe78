"""The devices of this machine."""
from penstock import _core


def list_local_devices(session_config=None):
    """DeviceAttributes messages of the devices that a session with this config has."""
    from penstock import proto
    attributes = proto.message("tensorflow.DeviceAttributes")
    config = session_config.SerializeToString() if session_config is not None else b""
    return [attributes(name=d.name, device_type=d.device_type, memory_limit=d.memory_limit, incarnation=d.incarnation)
            for d in _core.list_local_devices(config)]
