"""Penstock runs TensorFlow programs without TensorFlow.

`import penstock as tf` is TensorFlow 2: the first of its names that a program asks for switches the process to version
2's behaviour. `import penstock.v1 as tf` is TensorFlow 1.15."""
import os as _os

# A build tree keeps the native parts apart from the sources; an installed package has them in this folder.
if _os.environ.get("PENSTOCK_NATIVE_DIR"):
    __path__.append(_os.environ["PENSTOCK_NATIVE_DIR"])

from penstock import wiring as _wiring  # noqa: E402, F401


def __getattr__(name):
    if name == "__version__":
        from penstock._core import version
        value = globals()["__version__"] = version()
        return value
    import importlib
    if name in ("v1", "compat", "data", "errors", "autograph", "profiler", "feature_column", "distribute", "keras"):
        target = "penstock.framework.errors" if name == "errors" else "penstock." + name
        value = globals()[name] = importlib.import_module(target)
        return value
    path = _os.path.join(_os.path.dirname(__file__), name)
    private = name.startswith("_") and name not in ("__internal__", "__operators__")
    if private or _os.path.isdir(path) or _os.path.exists(path + ".py"):  # a module not imported yet
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    from penstock.api import version_two
    value = globals()[name] = version_two.attribute(name)
    return value


def __dir__():
    from penstock.api import version_two
    return sorted({*globals(), *dir(version_two.root)})
