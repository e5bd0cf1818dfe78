"""The behaviour of the process: version 1 or version 2, each switch apart."""
from penstock import _core


class _Mode:
    """Version-1 behaviour unless switched."""

    def __init__(self):
        self.eager = False
        self.resource_variables = False
        self.control_flow_v2 = False
        self.tensor_equality = False
        self.tensor_shape_v2 = False
        self.type_promotion = "off"  # or "legacy": operators bring tensors to one type by NumPy's rules
        self.numpy_slicing = False  # lists and arrays of integers index tensors as in NumPy
        self.program_of_version_two = False  # whether the program has imported TensorFlow 2's module
        self.v2_behavior = False
        self.decided = False  # the program has said which version it wants,
        self.graphs_wanted = False  # or that it builds graphs

    @property
    def eager(self):
        """Whether ops run as they are called, outside of graphs."""
        return self._eager

    @eager.setter
    def eager(self, eager):
        self._eager = eager
        _core.eager_set_mode(eager)

    @property
    def v2_behavior(self):
        """True if version 2's behaviour was enabled last, False if it was disabled last."""
        return self._v2_behavior

    @v2_behavior.setter
    def v2_behavior(self, on):
        self._v2_behavior = on
        _core.set_version_two(on)


mode = _Mode()


def enable_tensor_equality():
    """Makes `==` of tensors elementwise."""
    mode.tensor_equality = True


def disable_tensor_equality():
    """Makes `==` of tensors compare identity."""
    mode.tensor_equality = False


def enable_resource_variables():
    """Makes new variables resource variables."""
    mode.resource_variables = True


def disable_resource_variables():
    """Makes new variables reference variables unless `use_resource` says otherwise."""
    mode.resource_variables = False


def resource_variables_enabled():
    """Whether new variables are resource variables."""
    return mode.resource_variables


def enable_control_flow_v2():
    """Makes conditionals and loops functional."""
    mode.control_flow_v2 = True


def disable_control_flow_v2():
    """Makes conditionals and loops out of frame ops."""
    mode.control_flow_v2 = False


def control_flow_v2_enabled():
    """Whether conditionals and loops are functional."""
    return mode.control_flow_v2


def set_dtype_conversion_mode(dtype_conversion_mode):
    """How operators bring tensors to one type: "off" (they refuse different types) or "legacy" (by NumPy's rules).
    ValueError for others; NotImplementedError for "safe" and "all", the modes with weak tensors."""
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError("Type promotion with weak tensors is not supported; use the dtype conversion mode "
                                  f"'legacy' instead of '{dtype_conversion_mode}'")
    if dtype_conversion_mode not in ("off", "legacy"):
        raise ValueError(f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the provided "
                         "dtype conversion mode is one of the followings: off, legacy, safe, all.")
    mode.type_promotion = dtype_conversion_mode


def is_numpy_style_type_promotion():
    """Whether operators bring tensors to one type by NumPy's rules."""
    return mode.type_promotion == "legacy"


def is_auto_dtype_conversion_enabled():
    """Whether weak tensors take part in the promotion of types; never."""
    return False


def enable_numpy_style_slicing():
    """Makes lists and arrays of integers index tensors as in NumPy."""
    mode.numpy_slicing = True


def disable_v2_behavior():
    """Switches everything to version 1."""
    mode.__init__()
    mode.decided = True


def enable_v2_behavior():
    """Switches everything to version 2."""
    mode.eager = mode.resource_variables = mode.control_flow_v2 = mode.tensor_equality = mode.tensor_shape_v2 = True
    mode.decided = mode.v2_behavior = True


def disable_eager_execution():
    """Makes ops build graphs."""
    mode.eager = False
    mode.graphs_wanted = True
