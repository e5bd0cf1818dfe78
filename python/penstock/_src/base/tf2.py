"""tensorflow.python.tf2: whether the process behaves as version 2."""
from penstock._src.base.mode import mode


def enabled():
    """True in programs of version 2, also in those that build graphs after all."""
    return mode.v2_behavior


def by_version(module, **pairs):
    """A module's `__getattr__` for names that the versions use for different things: name=(version 1's, version 2's).
    """
    def lookup(name):
        if name in pairs:
            return pairs[name][enabled()]
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return lookup
