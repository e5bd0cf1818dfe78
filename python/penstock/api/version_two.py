"""TensorFlow 2's module: the names in penstock/api/v2, under version 2's behaviour."""
import sys

from penstock._src.base import hooks
from penstock.api import lazy

_missing_name = hooks.Hook("missing_name")
root = lazy.build("v2", ["penstock.compat.v2"])
_switched = False
beside_version_one = False  # version 1 is there as `compat.v1` only


def switch():
    """Version 2's behaviour, unless the program has imported `penstock.v1` before (then it is one of version 1) or has
    selected a behaviour."""
    global _switched
    if _switched or ("penstock.v1" in sys.modules and not beside_version_one):
        return
    _switched = True
    from penstock._src.base.mode import enable_v2_behavior, mode
    mode.program_of_version_two = True
    if not mode.decided:
        enable_v2_behavior()
        mode.eager = not mode.graphs_wanted


def of_package(package, name):
    """A name of a package of Python files that programs of version 2 know as one of theirs: penstock.data, ..."""
    if name.startswith("_"):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(getattr(root, package.rpartition(".")[2]), name)
    switch()
    return value


def names_of_package(package):
    """Those names, for `dir`."""
    return dir(getattr(root, package.rpartition(".")[2]))


def attribute(name):
    """A name of the root module. AttributeError if version 2 has none of this name, or it is not served."""
    try:
        value = getattr(root, name)
    except AttributeError:
        raise _missing_name("penstock", name) from None
    switch()
    return value
