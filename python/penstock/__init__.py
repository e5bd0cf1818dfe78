"""Penstock runs TensorFlow programs without TensorFlow."""
import os as _os

# A build tree keeps the native parts apart from the sources; an installed package has them in this folder.
if _os.environ.get("PENSTOCK_NATIVE_DIR"):
    __path__.append(_os.environ["PENSTOCK_NATIVE_DIR"])


def __getattr__(name):
    if name == "__version__":
        from penstock._core import version
        value = globals()["__version__"] = version()
        return value
    import importlib
    if name in ("v1", "compat", "errors"):
        target = "penstock.framework.errors" if name == "errors" else "penstock." + name
        value = globals()[name] = importlib.import_module(target)
        return value
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")
