"""Modules that are imported when they are first used."""
import importlib
import types


class LazyLoader(types.ModuleType):
    """Stands for the module `name`, and for itself in `parent_module_globals` under `local_name`, until it is used."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals
        self._warning = warning

    def _load(self):
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        if self._warning:
            from penstock._src.base import tf_logging
            tf_logging.warning(self._warning)
            self._warning = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item):
        return getattr(self._load(), item)

    def __dir__(self):
        return dir(self._load())
