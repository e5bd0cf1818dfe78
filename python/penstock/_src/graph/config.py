"""The process's configuration: what a session takes that is given none."""
import collections

from penstock import _core
from penstock._src.base import tf2
from penstock._src.base import hooks

_context = hooks.Hook("eager_context")

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
    _core.eager_set_soft_placement(enabled)


def get_intra_op_parallelism_threads():
    """The threads that one op may use; 0 if the system chooses."""
    return _config.intra_op_parallelism_threads if _config is not None else 0


def set_intra_op_parallelism_threads(num_threads):
    """Sets the threads that one op may use: in sessions made from now on, and in eager ops and functions. 0: the system
    chooses. Unlike TensorFlow, also after the first op."""
    _written().intra_op_parallelism_threads = num_threads
    _core.eager_set_threads(get_inter_op_parallelism_threads(), num_threads)


def get_inter_op_parallelism_threads():
    """The threads that independent ops run on; 0 if the system chooses."""
    return _config.inter_op_parallelism_threads if _config is not None else 0


def set_inter_op_parallelism_threads(num_threads):
    """Sets the threads that independent ops run on: in sessions made from now on, and in functions. 0: the system
    chooses. Unlike TensorFlow, also after the first op."""
    _written().inter_op_parallelism_threads = num_threads
    _core.eager_set_threads(num_threads, get_intra_op_parallelism_threads())


_SWITCHES = frozenset("""
    layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization
    loop_optimization function_optimization debug_stripper scoped_allocator_optimization pin_to_host_optimization
    implementation_selector auto_mixed_precision""".split())
_VALUES = ("disable_model_pruning", "disable_meta_optimizer", "min_graph_nodes")


def list_physical_devices(device_type=None):
    """The machine's devices, or those of one type ("CPU")."""
    from penstock._src.graph import device_lib
    found = {}
    for device in device_lib.list_local_devices():
        kind, number = device.name.split(":")[-2:]
        found[f"/physical_device:{kind}:{number}"] = kind
    return [PhysicalDevice(name, kind) for name, kind in found.items() if device_type in (None, kind)]


def list_logical_devices(device_type=None):
    """The devices that ops can be put on, or those of one type ("CPU")."""
    from penstock._src.graph import device_lib
    return [LogicalDevice(device.name, device.device_type) for device in device_lib.list_local_devices(session_config())
            if device_type in (None, device.device_type)]


def experimental_list_devices():
    """The names of the devices that ops can be put on."""
    return [device.name for device in list_logical_devices()]


def list_logical_devices_v2(device_type=None):
    """list_logical_devices with names as version 2 has them, which leave this process out: "/device:CPU:0"."""
    return [LogicalDevice(device.name[device.name.index("/device:"):], device.device_type)
            for device in list_logical_devices(device_type)]


# Devices that ops see

_virtual: dict[str, list] = {}   # physical device's name -> the configurations of its logical devices
_visible = None
_memory_growth: dict[str, bool] = {}


class LogicalDeviceConfiguration(collections.namedtuple(
        "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"])):
    """One logical device of a physical one. All choices are for other devices than CPUs."""

    def __new__(cls, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        return super().__new__(cls, memory_limit, experimental_priority, experimental_device_ordinal)


VirtualDeviceConfiguration = LogicalDeviceConfiguration


def _physical(device):
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def set_logical_device_configuration(device, logical_devices):
    """Divides a physical device into several. RuntimeError once ops have run eagerly on another division."""
    _physical(device)
    if device.device_type == "CPU" and any(c.memory_limit is not None for c in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if not _core.eager_set_device_count(len(logical_devices)):
        if _virtual.get(device.name) != list(logical_devices):
            raise RuntimeError("Virtual devices cannot be modified after being initialized")
        return
    _virtual[device.name] = list(logical_devices)
    _written().device_count[device.device_type] = len(logical_devices)


def get_logical_device_configuration(device):
    """The configurations of a physical device's logical devices, or None if it is not divided."""
    _physical(device)
    return _virtual.get(device.name)


def set_virtual_device_configuration(device, virtual_devices):
    """Version 1's name and argument of `set_logical_device_configuration`."""
    set_logical_device_configuration(device, virtual_devices)


get_virtual_device_configuration = get_logical_device_configuration


def get_visible_devices(device_type=None):
    """The physical devices that ops may use."""
    found = list_physical_devices() if _visible is None else _visible
    return [d for d in found if device_type in (None, d.device_type)]


def set_visible_devices(devices, device_type=None):
    """Says which physical devices ops may use."""
    global _visible
    devices = [devices] if isinstance(devices, (str, PhysicalDevice)) else list(devices)
    for device in devices:
        _physical(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    _visible = devices + [d for d in get_visible_devices() if device_type is not None
                          and d.device_type != device_type]


def get_memory_growth(device):
    """Whether a device's memory grows as it is used. ValueError: the device has no such choice."""
    _physical(device)
    if device.name not in _memory_growth:
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    return _memory_growth[device.name]


def set_memory_growth(device, enable):
    """Says whether a device's memory grows as it is used."""
    _physical(device)
    if device.device_type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    _memory_growth[device.name] = bool(enable)


def get_device_details(device):
    """What is known of a physical device: nothing of a CPU."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device!r}")
    _physical(device)
    return {}


def _require_device(name):
    """ValueError unless there is a device of a name such as "CPU:0"."""
    from penstock._src.graph import device_spec
    try:
        spec = device_spec.DeviceSpecV2.from_string(name)
    except ValueError:
        spec = None
    if spec is None or spec.device_type is None or spec.device_index is None:
        raise ValueError(f"Failed parsing device name: {name!r}. Note a valid device string should at least contain a "
                         'device type and a device index, like "GPU:0".')
    if spec.device_index >= len(list_logical_devices(spec.device_type)):
        raise ValueError(f"No matching devices found for {name!r}")


def get_memory_info(device):
    """{"current", "peak"}: the bytes in use on a device; 0 on CPUs, as TensorFlow has it. ValueError: there is none of
    that name."""
    _require_device(device)
    return {"current": 0, "peak": 0}


def get_memory_usage(device):
    """The bytes in use on a device. ValueError: there is none of that name."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Makes the peak of get_memory_info begin anew. ValueError: there is no device of that name."""
    _require_device(device)


def get_synchronous_execution():
    """Whether the eager context says so. Eager ops have always run when they return."""
    context = _context.get()
    return context.context().execution_mode == context.SYNC


def set_synchronous_execution(enable):
    """Accepted: eager ops have run when they return."""
    context = _context.get()
    context.context().execution_mode = context.SYNC if enable else context.ASYNC


_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")  # by their numbers


def get_device_policy():
    """What is done about values of other devices: CPUs share their memory, so nothing."""
    context = _context.get()
    return _POLICIES[context.context().device_policy]


def set_device_policy(device_policy):
    """Accepted: CPUs share their memory. ValueError: no policy is called so."""
    context = _context.get()
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(f"Invalid argument `device_policy`: {device_policy!r}; valid are None, {', '.join(_POLICIES)}")
    context.context().device_policy = _POLICIES.index(policy)


def get_log_device_placement():
    """Whether it is said where ops run."""
    return _config is not None and _config.log_device_placement


def set_log_device_placement(enabled):
    """Says on standard error which op runs on which device, eagerly, in functions and in sessions, from now on;
    sessions that are made from now on say first where they put their ops."""
    _written().log_device_placement = bool(enabled)
    _core.log_placement(bool(enabled))


_op_determinism = False


def enable_op_determinism():
    """Random ops need a seed from now on, and datasets that are made from now on keep the order of their elements:
    functions of parallel maps and interleaves that draw numbers, change something or call Python run one after the
    other. Other ops give the same for the same inputs anyway."""
    global _op_determinism
    _op_determinism = True


def disable_op_determinism():
    """Takes enable_op_determinism back."""
    global _op_determinism
    _op_determinism = False


def is_op_determinism_enabled():
    """Whether `enable_op_determinism` was called."""
    return _op_determinism


_tensor_float_32 = True


def tensor_float_32_execution_enabled():
    """Whether matrices of floats may be multiplied with fewer bits where hardware does so; CPUs do not."""
    return _tensor_float_32


def enable_tensor_float_32_execution(enabled):
    """Says whether matrices of floats may be multiplied with fewer bits."""
    global _tensor_float_32
    _tensor_float_32 = bool(enabled)


def enable_mlir_bridge():
    """Accepted: there is one way to compile."""


def disable_mlir_bridge():
    """Accepted: there is one way to compile."""


_functions_run_eagerly = False


def run_functions_eagerly(run_eagerly):
    """Makes tf.functions run op by op, for finding mistakes in them."""
    global _functions_run_eagerly
    _functions_run_eagerly = bool(run_eagerly)


def functions_run_eagerly():
    """Whether tf.functions run op by op."""
    return _functions_run_eagerly


_jit = False


def get_optimizer_jit():
    """What set_optimizer_jit has set, in version 2 as "autoclustering" or "": nothing is compiled just in time here."""
    if not tf2.enabled():
        return _jit
    return "autoclustering" if _jit else ""


def set_optimizer_jit(enabled):
    """Accepted: nothing is compiled just in time here."""
    global _jit
    _jit = enabled in (True, "autoclustering")


_options = {"disable_model_pruning": False, "disable_meta_optimizer": False}


def get_optimizer_experimental_options():
    """The options that were set, and the two that are never left out."""
    return dict(_options)


def set_optimizer_experimental_options(options):
    """Switches passes of graph optimisation on or off by name; True, False. Other names are ignored."""
    rewriter = _written().graph_options.rewrite_options
    for name, value in options.items():
        if name in _VALUES:
            setattr(rewriter, name, value)
            _options[name] = value
        elif name in _SWITCHES:
            setattr(rewriter, name, rewriter.ON if value else rewriter.OFF)
            _options[name] = bool(value)
