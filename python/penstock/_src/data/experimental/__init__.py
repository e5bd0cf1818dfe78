"""Less usual datasets. Programs of version 2 know this package as tf.data.experimental."""


def __getattr__(name):
    from penstock.api import version_two
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(version_two.root.data.experimental, name)
    version_two.switch()
    return value
