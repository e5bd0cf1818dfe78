"""`penstock.compat`: `v1` is TensorFlow 1.15's module, `v2` is TensorFlow 2's; and `tf.compat`'s string helpers."""
import importlib

_STRINGS = ("as_bytes", "as_text", "as_str", "as_str_any", "path_to_str", "bytes_or_text_types", "integral_types",
            "real_types", "complex_types")


def __getattr__(name):
    if name == "v1":
        importlib.import_module("penstock.api.version_two").switch()
        value = importlib.import_module("penstock.v1")
    elif name == "v2":
        value = importlib.import_module("penstock.api.version_two").root
        if importlib.import_module("penstock.alias.finder").installed() == "v1":
            older = importlib.import_module("penstock.compat.v2_of_1_15")
            for function in older.NAMES:
                setattr(value, function, getattr(older, function))
    elif name in _STRINGS:
        value = getattr(importlib.import_module("penstock.util.compat"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return ["v1", "v2", *_STRINGS]
