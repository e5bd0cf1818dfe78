"""Which mode a thread is in, and what eager execution keeps for the process."""
import contextlib
import random
import threading
from typing import Any

from penstock import _core
from penstock._src.graph import core as _core_module  # noqa: F401  (connects the errors)
from penstock._src.graph import defaults
from penstock._src.graph.config import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice  # noqa: F401
from penstock._src.base.mode import disable_eager_execution, mode  # noqa: F401
from penstock._src.base import hooks

GRAPH_MODE, EAGER_MODE = 0, 1
SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32 = range(4)


on_new_seed = hooks.Callbacks()  # compiled functions with random ops are compiled again


class Context:
    """Seeds and functions of eager execution."""

    def __init__(self, config=None, device_policy=None, execution_mode=None, server_def=None):
        self._seed = None
        self._random = random.Random()
        self.device_policy = DEVICE_PLACEMENT_SILENT if device_policy is None else device_policy
        self.execution_mode = SYNC if execution_mode is None else execution_mode  # ops have always run when they return
        self.summary_writer = self.summary_recording = self.summary_step = None

    def ensure_initialized(self):
        """There is nothing to initialize."""

    def executing_eagerly(self):
        """Whether ops of this thread run as they are called."""
        return executing_eagerly()

    def _set_global_seed(self, seed):
        self._seed = seed = None if seed is None else int(seed)
        self._random = random.Random(seed)
        _core.eager_clear_caches()  # random ops begin anew, also those of functions
        on_new_seed()

    def _internal_operation_seed(self):
        return self._random.randint(0, 2**31 - 1)

    @property
    def device_name(self):
        """The device scope of this thread."""
        return defaults.get_default_graph()._device_function_stack.plain or None

    @property
    def device_spec(self):
        """The device scope of this thread, as a DeviceSpec."""
        from penstock._src.graph import device_spec
        return device_spec.DeviceSpecV2.from_string(self.device_name or "")

    def device(self, name):
        """Context manager under which ops run on a device."""
        return device(name)

    @property
    def scope_name(self):
        """The name scope of this thread, with its slash."""
        name = defaults.get_default_graph()._name_stack
        return name + "/" if name else ""

    def num_gpus(self):
        """There are none."""
        return 0

    def devices(self):
        """The names of the devices."""
        return [d.name for d in _core.list_local_devices()]

    list_devices = devices

    def __getattr__(self, name):
        """What tf.config sets is there under the names of its functions: `soft_device_placement`, ..."""
        from penstock._src.graph import config
        if not name.startswith("_"):
            if hasattr(config, name):
                return getattr(config, name)
            if hasattr(config, f"get_{name}"):
                return getattr(config, f"get_{name}")()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def add_function_def(self, fdef):
        """Makes a function known to ops."""
        data = fdef if isinstance(fdef, bytes) else fdef.SerializeToString()
        _core.eager_graph().add_function(data)

    def clear_kernel_cache(self):
        """Accepted: kernels are kept for signatures, and those least used are dropped by themselves."""

    def has_function(self, name):
        """Whether a function of that name is known."""
        return _core.eager_graph().has_function(name.decode() if isinstance(name, bytes) else name)


_context: Any = Context()


def context():
    """The process's context; a new one for programs that have set `_context` to None."""
    global _context
    if _context is None:
        _context = Context()
    return _context


context_safe = context


def _reset_context():
    """Begins with a new context. Devices stay as they are; there may be more of them then."""
    global _context
    _context = None


def ensure_initialized():
    """There is nothing to initialize."""


def executing_eagerly():
    """Whether ops of this thread run as they are called."""
    return defaults.get_default_graph()._eager


def in_eager_mode():
    """Whether ops of this thread run as they are called."""
    return executing_eagerly()


def eager_mode():
    """Context manager under which ops run as they are called."""
    return defaults._default_graph_stack.get_controller(defaults._default_graph_stack.eager_graph())


@contextlib.contextmanager
def graph_mode():
    """Context manager under which ops build the thread's graph."""
    if not executing_eagerly():
        yield
        return
    with defaults._default_graph_stack.get_controller(defaults._default_graph_stack.plain_graph()):
        yield


def device(name):
    """Context manager under which ops run on a device."""
    from penstock._src.graph import ops
    return ops.device(name)


def global_seed():
    """The seed of eager random ops, or None."""
    return context()._seed


def internal_operation_seed():
    """The next seed for an op that was given none."""
    return context()._internal_operation_seed()


def set_global_seed(seed):
    """Seeds eager random ops and begins their sequences anew."""
    context()._set_global_seed(seed)


def get_config():
    """The ConfigProto of the process."""
    from penstock.proto import pb2_module
    return pb2_module("tensorflow.core.protobuf.config_pb2").ConfigProto()


def get_device_name():
    """The device that the program has chosen, or ""."""
    return context().device_name or ""


def num_gpus():
    """There are none."""
    return 0


def list_devices():
    """The names of the devices."""
    return context().list_devices()


@contextlib.contextmanager
def execution_mode(mode):
    """Context manager that accepts SYNC or ASYNC: ops have run when they return."""
    before, context().execution_mode = context().execution_mode, context().execution_mode if mode is None else mode
    try:
        yield
    finally:
        context().execution_mode = before


@contextlib.contextmanager
def async_scope():
    """Context manager that lets ops run later. They have run when they return."""
    yield


def async_wait():
    """Waits for ops that run later: there are none."""


def async_clear_error():
    """Forgets the errors of ops that run later: there are none."""


def get_log_device_placement():
    """Whether it is told where ops are put."""
    from penstock._src.graph import config
    return config.get_log_device_placement()


def set_log_device_placement(enabled):
    """Says whether it is told where ops are put."""
    from penstock._src.graph import config
    config.set_log_device_placement(enabled)


_EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")
_executor = threading.local()


@contextlib.contextmanager
def function_executor_type(executor_type):
    """Context manager that names the executor of function calls. Here all of them mean the same one; a call raises
    NotFoundError for a name that TensorFlow does not know."""
    graph = defaults._default_graph_stack.eager_graph()
    before = getattr(_executor, "kind", "")
    _executor.kind = graph._executor = executor_type or ""
    graph._tell_scopes()
    try:
        yield
    finally:
        _executor.kind = graph._executor = before
        graph._tell_scopes()


def check_executor():
    """NotFoundError if function_executor_type names no executor."""
    kind = getattr(_executor, "kind", "")
    if kind not in _EXECUTORS:
        from penstock._src.graph import errors
        raise errors.NotFoundError(None, None, f"Could not find a factory for executor type {kind}.")


def shared_name(name=None):
    """The name under which resources are shared: none in eager execution."""
    if name or not executing_eagerly():
        return name
    return "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Makes ops of the whole process run as they are called. TypeError, ValueError: bad arguments; ValueError once a
    graph has been built."""
    if config is not None and getattr(getattr(config, "DESCRIPTOR", None), "full_name", "") != "tensorflow.ConfigProto":
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in (None, DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT,
                             DEVICE_PLACEMENT_SILENT_FOR_INT32):
        raise ValueError("device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_*")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be one of None, tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC")
    if mode.eager:
        return
    stack = defaults._default_graph_stack
    if stack.stack or stack._global_default_graph is not None and stack._global_default_graph._ops:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    mode.eager = True
