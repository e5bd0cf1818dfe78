"""Classes that other libraries know by the name that TensorFlow has for them."""

_classes = []  # (class, name), of those defined so far
_in_use = False


def known_as(name):
    """Class decorator: where `import tensorflow` gives Penstock, the class has this name, `MODULE.CLASS`."""
    def mark(cls):
        _classes.append((cls, name))
        if _in_use:
            _rename(cls, name)
        return cls
    return mark


def use():
    """From now on `import tensorflow` gives Penstock."""
    global _in_use
    _in_use = True
    for cls, name in _classes:
        _rename(cls, name)


def _rename(cls, name):
    cls.__module__, _, cls.__name__ = name.rpartition(".")
    cls.__qualname__ = cls.__name__
