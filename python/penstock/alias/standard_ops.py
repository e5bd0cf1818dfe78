"""The ops' functions of version 1 in one module, as programs import it by its internal name."""
from penstock import v1


def __getattr__(name):
    return getattr(v1, name)
