"""TensorFlow's protocol buffer messages as Python classes, made at first use.

    from penstock import proto
    graph = proto.GraphDef()                                     # a message of package tensorflow, by its short name
    proto.message("tensorflow.GraphDef")                         # by full name
    proto.module("tensorflow/core/framework/graph.proto")        # graph_pb2 of TensorFlow
    from penstock.proto import graph_pb2                         # the same, if it is in one of _FOLDERS
    from penstock.proto.tensorflow.core.framework import graph_pb2

The classes live in a separate descriptor pool, so that real TensorFlow, which has files of the same names in
protobuf's default pool, can be loaded in the same process, before or after. `use_default_pool` puts them into the
default pool instead, for programs in which Penstock replaces TensorFlow: other packages' messages can then contain
them.

protobuf's library is imported when the first class is made, not before.
"""
from penstock.proto import _finder, _pool
from penstock.proto._pool import module, use_default_pool

__all__ = ["message", "module", "pb2_module", "pb2_names", "use_default_pool"]

# Where short names are looked for, in this order.
_PACKAGES = ("tensorflow", "tensorflow.tfprof", "tensorflow.error")
# Where short names of modules are looked for, in this order.
_FOLDERS = ("tensorflow.core.framework.", "tensorflow.core.protobuf.", "tensorflow.core.util.",
            "tensorflow.core.example.", "tensorflow.python.training.")


def message(full_name):
    """The class of the message (or wrapper of the enum) such as "tensorflow.AttrValue.ListValue".

    The same name gives the same object each time. Raises KeyError if there is no such message.
    """
    return _pool.lookup(full_name)


def pb2_module(dotted_name):
    """The module that TensorFlow calls `dotted_name`, such as "tensorflow.core.framework.graph_pb2".

    Raises ModuleNotFoundError if TensorFlow has no such module among those known here.
    """
    path = _finder.path_of(dotted_name)
    if path is None:
        raise ModuleNotFoundError(f"No module named {dotted_name!r}", name=dotted_name)
    return module(path)


def pb2_names():
    """Names of all modules that `pb2_module` serves."""
    return sorted(_pool.module_name(path) for path in _pool.files() if not path.startswith("google/"))


def __getattr__(name):
    if name.endswith("_pb2"):
        for folder in _FOLDERS:
            path = _finder.path_of(folder + name)
            if path is not None:
                found = globals()[name] = module(path)
                return found
    elif not name.startswith("_"):
        for package in _PACKAGES:
            try:
                found = globals()[name] = _pool.lookup(f"{package}.{name}")
            except KeyError:
                continue
            return found
    raise AttributeError(f"module 'penstock.proto' has no attribute {name!r}")


def __dir__():
    short = (symbol.rpartition(".") for symbol in _pool.symbols())
    return sorted(set(__all__) | {name for package, _, name in short if package in _PACKAGES})


_finder.install()
