"""Arguments that go by two names, and modules that fall back on the functions made from op definitions."""
from penstock.framework import gen


def pick(new_name, new, old_name, old):
    """The value of an argument that has an old name as well; giving both is an error."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


def made_function(module):
    """A module's `__getattr__`: names without any Python of their own are the functions made from op definitions."""

    def lookup(name):
        if name.startswith("gen_") and name.endswith("_ops"):  # modules of TensorFlow have what they import
            return gen
        if not name.startswith("__"):
            function = getattr(gen, name, None)
            if function is not None:
                return function
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return lookup
