"""TensorFlow 2's module: the names in penstock/api/v2, under version 2's behaviour."""
from penstock.api import lazy

root = lazy.build("v2", ["penstock.compat.v2"])
_switched = False


def _switch():
    """Version 2's behaviour, unless the program has chosen eager or graph execution itself."""
    global _switched
    if _switched:
        return
    _switched = True
    from penstock.framework import mode
    mode.enable_v2_behavior()


def attribute(name):
    """A name of the root module. AttributeError if version 2 has none of this name, or it is not served."""
    try:
        value = getattr(root, name)
    except AttributeError:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}") from None
    _switch()
    return value
