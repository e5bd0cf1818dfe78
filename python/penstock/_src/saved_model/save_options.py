"""SaveOptions: how tf.saved_model.save writes a model."""
import enum

from penstock._src.base import compat


class VariablePolicy(enum.Enum):
    """What a SavedModel says of its variables besides their values."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    def _save_variable_devices(self):
        return self != VariablePolicy.NONE

    def _expand_distributed_variables(self):
        return self == VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES

    @staticmethod
    def from_obj(obj):
        """A policy, its name in any case, or None. ValueError: there is none of that name."""
        if obj is None:
            return VariablePolicy.NONE
        if isinstance(obj, VariablePolicy):
            return obj
        key = str(obj).lower()
        for policy in VariablePolicy:
            if key == policy.value:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}.")


def _validate_namespace_whitelist(namespace_whitelist):
    if namespace_whitelist is None:
        return None
    if not isinstance(namespace_whitelist, list):
        raise TypeError(f"`namespace_whitelist` must be a list of strings. Got: {namespace_whitelist} with type "
                        f"{type(namespace_whitelist)}.")
    for entry in namespace_whitelist:
        if not isinstance(entry, str):
            raise ValueError(f"Whitelisted namespace must be a string. Got: {entry} of type {type(entry)}.")
    return [compat.as_str(entry) for entry in namespace_whitelist]


class SaveOptions:
    """How a model is written.

    namespace_whitelist: namespaces ("NAME>Op") of ops that may be saved. save_debug_info: whether a file tells in
    which lines of the program nodes were made. function_aliases: {alias: function}, noted in the model.
    experimental_debug_stripper: assertions and printing are left out. experimental_custom_gradients: whether gradients
    that the program defines are saved. experimental_sharding_callback: spreads values over files, as CheckpointOptions
    has it. extra_tags: besides "serve".
    """

    __slots__ = ("namespace_whitelist", "save_debug_info", "function_aliases", "experimental_debug_stripper",
                 "experimental_io_device", "experimental_variable_policy", "experimental_custom_gradients",
                 "experimental_image_format", "experimental_skip_saver", "experimental_sharding_callback", "extra_tags")

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None,
                 experimental_debug_stripper=False, experimental_io_device=None, experimental_variable_policy=None,
                 experimental_custom_gradients=True, experimental_image_format=False, experimental_skip_saver=False,
                 experimental_sharding_callback=None, extra_tags=None):
        self.namespace_whitelist = _validate_namespace_whitelist(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags
