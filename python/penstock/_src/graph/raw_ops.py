"""tf.raw_ops: every op as a function of keyword arguments, by its own name."""
from penstock import _core


def __getattr__(name):
    if name.startswith("__") or _core.op_def(name) is None:
        raise AttributeError(f"module 'penstock.raw_ops' has no attribute {name!r}")
    from penstock._src.graph.definitions import op_functions
    value = globals()[name] = op_functions.raw_function(name)
    return value


def __dir__():
    return sorted(_core.op_names())
