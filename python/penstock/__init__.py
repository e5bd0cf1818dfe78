"""Penstock runs TensorFlow programs without TensorFlow.

`import penstock as tf` is TensorFlow 2: the first of its names that a program uses switches the process to version
2's behaviour. `import penstock.v1 as tf` is TensorFlow 1.15."""
import os as _os
import sys as _sys

# A build tree keeps the native parts apart from the sources; an installed package has them in this folder.
if _os.environ.get("PENSTOCK_NATIVE_DIR"):
    __path__.append(_os.environ["PENSTOCK_NATIVE_DIR"])

from penstock import wiring as _wiring  # noqa: E402, F401


class _OtherNames:
    """Finds modules by the names that they had before, and namespaces of version 2: `import penstock.data`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith(("penstock.v1.", "penstock.v2.")):
            _no_such_name(*name.rsplit(".", 1))
        if not name.startswith("penstock.") or name.startswith(_IN_PLACE):
            return None
        from penstock.alias import places
        return places.spec(name)


def _no_such_name(module, name):
    """ImportError that says why `from MODULE import NAME` fails, where that looks for a module of this name."""
    if module in _sys.modules and not name.startswith("_"):
        from penstock._src.base import hooks
        reason = hooks.Hook("missing_name.reason")(module, name)
        if reason:
            raise ImportError(f"cannot import name {name!r} from {module!r}: {reason}", name=module)


_IN_PLACE = tuple("penstock." + name for name in ("_", "alias", "api", "compat", "proto", "v1", "v2", "wiring"))
_sys.meta_path.insert(0, _OtherNames)


def load_ipython_extension(shell):
    """`%load_ext penstock` in a notebook: from then on `import tensorflow` gives Penstock."""
    from penstock.alias import notebook
    notebook.load(shell)


def __getattr__(name):
    if name == "__version__":
        from penstock._core import version
        value = globals()["__version__"] = version()
        return value
    path = _os.path.join(_os.path.dirname(__file__), name)
    if name.startswith("_") and name not in ("__internal__", "__operators__"):
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    if _os.path.isdir(path) or _os.path.exists(path + ".py"):  # a module not imported yet
        import importlib
        return importlib.import_module("penstock." + name)
    from penstock.api import version_two
    value = globals()[name] = version_two.attribute(name)
    return value


def __dir__():
    from penstock.api import version_two
    return sorted({*globals(), *dir(version_two.root)})
