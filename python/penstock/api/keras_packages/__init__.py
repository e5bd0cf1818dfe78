"""tf.keras of version 2: Keras 3, or with TF_USE_LEGACY_KERAS=1 Keras 2, as their packages install them; and that of
version 1: tf_keras, which is Keras 2 in graph mode, if it is installed, or else the part of Keras in penstock/api/v1.

None is loaded before one of its names is used. The packages import TensorFlow, which from then on is Penstock.
"""
import importlib
import os
import types

from penstock._src.base import hooks

_alias = hooks.Hook("alias")
_package = None
_VERSION_ONE = "2.2.4-tf"  # the version that tf.keras of 1.15 reports


def _found(name):
    import importlib.util
    return importlib.util.find_spec(name) is not None


def _legacy():
    return os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")


class Unavailable(ModuleNotFoundError, NotImplementedError):
    """tf.keras is not available: the import raises the reason, and a lookup in several modules continues with the
    next one."""


def _load():
    """The package whose names tf.keras has. ImportError, naming the package to install, if it is missing."""
    global _package
    if _package is None:
        alias = _alias.get()
        # In a program of version 1 this is tf.compat.v2.keras: Keras 2 too, by its newer names.
        legacy = alias.installed() == "v1" or _legacy()
        name, inside = ("tf_keras", "tf_keras.api._v2.keras") if legacy else ("keras", "keras._tf_keras.keras")
        if not _found(name):
            way = alias.INSTALLS_TF_KERAS if legacy else f"pip install {name}"
            raise Unavailable(f"tf.keras is the package {name}, which is not installed: {way}", name=name)
        if alias.installed() is None:
            try:
                alias.install("v2", children_too=False)
            except RuntimeError as e:  # another TensorFlow is in this process, and Keras would find that one
                raise Unavailable(f"tf.keras is the package {name}, which needs `import tensorflow` to be Penstock: "
                                  f"{e}", name=name) from e
        _package = importlib.import_module(inside)
    return _package


def __getattr__(name):
    if name == "__all__":  # requested by `from tensorflow.keras import *`
        return [name for name in dir(_load()) if not name.startswith("_")]
    if name.startswith("__") and name not in ("__version__", "__internal__"):
        raise AttributeError(f"module 'penstock.keras' has no attribute {name!r}")
    return getattr(_load(), name)


def __dir__():
    return sorted({*dir(_load()), "__version__"})


class _Part(types.ModuleType):
    """A module of tf.keras that has its name at the top level too: tf.losses."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(getattr(_load(), self.__name__.rpartition(".")[2]), name)

    def __dir__(self):
        return dir(getattr(_load(), self.__name__.rpartition(".")[2]))


_parts = types.SimpleNamespace(**{
    name: _Part("penstock." + name) for name in ("initializers", "losses", "metrics", "optimizers")})


class VersionOne(types.ModuleType):
    """tf.keras of version 1: the names of `served`; where `import tensorflow` gives version 1, all of tf_keras if it
    is installed. AttributeError: a name that it lacks."""

    def __init__(self, served):
        super().__init__(served.__name__)
        self.__path__ = []
        self._served = served
        self._source = None

    def __getattr__(self, name):
        if name == "__version__":
            alias = _alias.get()
            return _load().__version__ if alias.installed() == "v2" else _VERSION_ONE
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if self._source is None:
            self._source = self._find()
        try:
            return getattr(self._source, name)
        except AttributeError as e:
            if self._source is not self._served:
                raise
            raise AttributeError(f"{e}; programs that `python -m penstock` runs have all of tf.keras if the package "
                                 f"tf_keras is installed: {_alias.get().INSTALLS_TF_KERAS}") from None

    def _find(self):
        alias = _alias.get()
        version = alias.installed()
        if version is None or not _found("tf_keras" if version == "v1" or _legacy() else "keras"):
            return self._served
        if version == "v1" or _legacy():
            return importlib.import_module("tf_keras.api._v1.keras")
        return _load()  # tf.compat.v1.keras in a program of version 2 is Keras 3 too

    def __dir__(self):
        return dir(self._source or self._served)
