"""TensorFlow's ops for tests of op libraries: known by their definitions."""
from penstock.framework import gen


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(gen, name)
