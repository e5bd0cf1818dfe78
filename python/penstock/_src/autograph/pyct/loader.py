"""Syntax trees and code as modules, in files of their own, so that tracebacks and debuggers show their lines."""
import atexit
import contextlib
import importlib.util
import os
import sys
import tempfile

from penstock._src.autograph.pyct import origin_info
from penstock._src.autograph.pyct import parser


def _remove(path):
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def load_source(source, delete_on_exit):
    """(module, file name) of some code, written into a temporary file, which goes with the process if asked for."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="__autograph_generated_file", delete=False,
                                     encoding="utf-8") as file:
        file.write(source)
    if delete_on_exit:
        atexit.register(_remove, file.name)
    name = os.path.basename(file.name)[:-len(".py")]
    spec = importlib.util.spec_from_file_location(name, file.name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module, file.name


def load_ast(nodes, indentation="  ", include_source_map=False, delete_on_exit=True):
    """(module, its code, source map or None) of a tree or several (origin_info.create_source_map)."""
    nodes = nodes if isinstance(nodes, (list, tuple)) else (nodes,)
    source = parser.unparse(nodes, indentation=indentation)
    module, path = load_source(source, delete_on_exit)
    return module, source, origin_info.create_source_map(nodes, source, path) if include_source_map else None
