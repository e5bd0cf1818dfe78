"""The native module, connected to the error classes. Imported by everything that needs the runtime."""
from penstock import _core
from penstock._src.graph import errors
from penstock._src.base import hooks

errors._connect(_core)
_core.set_file_system_factory(hooks.Hook("file_system"))  # of paths of unknown schemes
