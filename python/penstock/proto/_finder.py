"""Serves `import penstock.proto.tensorflow.….x_pb2`: the place that the classes themselves name as their module."""
from __future__ import annotations

import importlib.machinery
import sys

from penstock.proto import _pool

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any

_PREFIX = "penstock.proto."


def path_of(dotted_name):
    """The .proto path of a generated module, or None."""
    return _names().get(dotted_name)


_paths: dict[str, str] = {}


def _names():
    if not _paths:
        _paths.update((_pool.module_name(path), path) for path in _pool.files())
    return _paths


class _Finder:
    """Finds generated modules and the packages that hold them. It is its own loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        loader: Any = _Finder
        if not name.startswith(_PREFIX):
            return None
        inner = name[len(_PREFIX):]
        if inner.startswith("_"):
            return None
        if path_of(inner) is not None:
            return importlib.machinery.ModuleSpec(name, loader)
        if any(known.startswith(inner + ".") for known in _names()):
            return importlib.machinery.ModuleSpec(name, loader, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        path = path_of(spec.name[len(_PREFIX):])
        return None if path is None else _pool.module(path)

    @staticmethod
    def exec_module(module):
        pass


def install():
    """Appends the finder to Python's own ones; a second call does nothing."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)
