"""The process's configuration: what a session takes that is given none."""
import collections

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])

_config = None


def session_config():
    """The ConfigProto that the functions below have written, or None if none was called."""
    return _config


def _written():
    global _config
    if _config is None:
        from penstock import proto
        _config = proto.message("tensorflow.ConfigProto")()
        _config.allow_soft_placement = True
    return _config


def get_soft_device_placement():
    """Whether an op goes to another device where the one it asks for cannot run it."""
    return _config.allow_soft_placement if _config is not None else True


def set_soft_device_placement(enabled):
    """Says whether an op may go to another device than the one it asks for."""
    _written().allow_soft_placement = enabled


def get_intra_op_parallelism_threads():
    """The threads that one op may use; 0 if the system chooses."""
    return _config.intra_op_parallelism_threads if _config is not None else 0


def set_intra_op_parallelism_threads(num_threads):
    """Sets the threads that one op may use."""
    _written().intra_op_parallelism_threads = num_threads


def get_inter_op_parallelism_threads():
    """The threads that independent ops run on; 0 if the system chooses."""
    return _config.inter_op_parallelism_threads if _config is not None else 0


def set_inter_op_parallelism_threads(num_threads):
    """Sets the threads that independent ops run on."""
    _written().inter_op_parallelism_threads = num_threads


def list_physical_devices(device_type=None):
    """The machine's devices, or those of one type ("CPU")."""
    from penstock.client import device_lib
    found = {}
    for device in device_lib.list_local_devices():
        kind, number = device.name.split(":")[-2:]
        found[f"/physical_device:{kind}:{number}"] = kind
    return [PhysicalDevice(name, kind) for name, kind in found.items() if device_type in (None, kind)]


def list_logical_devices(device_type=None):
    """The devices that ops can be put on, or those of one type ("CPU")."""
    from penstock.client import device_lib
    return [LogicalDevice(device.name, device.device_type) for device in device_lib.list_local_devices(session_config())
            if device_type in (None, device.device_type)]
