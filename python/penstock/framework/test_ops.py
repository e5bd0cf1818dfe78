"""TensorFlow's ops for tests of op libraries: known by their definitions."""
from penstock.framework import gen
from penstock.framework.op_def_library import _op_def_lib  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(gen, name)
