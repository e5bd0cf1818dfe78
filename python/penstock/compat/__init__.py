"""`penstock.compat`: `v1` is TensorFlow 1.15's module, `v2` is TensorFlow 2's; and functions that help programs to
work with several versions."""
import importlib

from penstock._src.base import hooks

_alias = hooks.Hook("alias")
_NAMES = {
    "penstock._src.graph.forward_compat": "forward_compatibility_horizon forward_compatible",
    "penstock._src.graph.tensor_shape": "dimension_at_index dimension_value",
    "penstock._src.base.compat": """
        as_bytes as_str as_str_any as_text bytes_or_text_types complex_types integral_types path_to_str real_types""",
}
_SOURCES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name):
    if name == "v1":
        importlib.import_module("penstock.api.version_two").switch()
        value = importlib.import_module("penstock.v1")
    elif name == "v2":
        value = importlib.import_module("penstock.api.version_two").root
        if _alias.get().installed() == "v1":
            older = importlib.import_module("penstock.compat.v2_of_1_15")
            for function in older.NAMES:
                setattr(value, function, getattr(older, function))
    elif name in _SOURCES:
        value = getattr(importlib.import_module(_SOURCES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return ["v1", "v2", *_SOURCES]
