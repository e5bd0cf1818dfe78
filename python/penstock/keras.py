"""tf.keras of version 2: Keras 3, or with TF_USE_LEGACY_KERAS=1 Keras 2, as their packages install them.

Neither is loaded before one of its names is used. Both import TensorFlow, which from then on is Penstock.
"""
import importlib.util
import os
import types

_package = None


def _load():
    """The package whose names tf.keras has. ImportError, saying what to install, if it is not installed."""
    global _package
    if _package is None:
        legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
        name, inside = ("tf_keras", "tf_keras.api._v2.keras") if legacy else ("keras", "keras._tf_keras.keras")
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"tf.keras is the package {name}, which is not installed: pip install {name}",
                                      name=name)
        from penstock import alias
        if alias.installed() != "v2":
            alias.install("v2")
        _package = importlib.import_module(inside)
    return _package


def __getattr__(name):
    if name.startswith("__") and name != "__version__":
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
