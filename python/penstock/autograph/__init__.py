"""Python's control flow over tensors as control flow of the graph. Programs know this package as tf.autograph."""


def __getattr__(name):
    import importlib
    if name in ("to_code", "to_graph"):
        return getattr(importlib.import_module("penstock.autograph.impl.api"), name)
    if name in ("set_verbosity", "trace"):
        return getattr(importlib.import_module("penstock.autograph.utils"), name)
    if name == "experimental":
        return importlib.import_module("penstock.autograph.experimental")
    raise AttributeError(f"module 'penstock.autograph' has no attribute {name!r}")
