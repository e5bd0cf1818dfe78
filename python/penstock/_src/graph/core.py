"""The native module, connected to the error classes. Imported by everything that needs the runtime."""
from penstock import _core
from penstock.framework import errors
from penstock.util import hooks

errors._connect(_core)
_core.set_file_system_factory(hooks.Hook("file_system"))  # of paths of unknown schemes
