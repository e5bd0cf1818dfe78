"""The native module, connected to the error classes. Imported by everything that needs the runtime."""
from penstock import _core
from penstock.framework import errors

errors._connect(_core)
