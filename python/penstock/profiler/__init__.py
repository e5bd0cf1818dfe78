"""What a graph and its steps cost in time, memory, parameters and floating-point operations. Programs of version 2 know
this package as tf.profiler."""


def __getattr__(name):
    from penstock.api import version_two
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(version_two.root.profiler, name)
    version_two.switch()
    return value
