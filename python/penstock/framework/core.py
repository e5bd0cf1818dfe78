"""The native module, connected to the error classes. Imported by everything that needs the runtime."""
from penstock import _core
from penstock.framework import errors



def _file_system(scheme):
    # Only a path of an unknown scheme needs what this imports.
    from penstock.platform import remote_files
    return remote_files.file_system(scheme)


errors._connect(_core)
_core.set_file_system_factory(_file_system)
