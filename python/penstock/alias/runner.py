"""Runs a program as Python would, with `import tensorflow` giving Penstock. It leaves no trace, neither in
the program's main module nor in its tracebacks."""
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any

from penstock import alias
from penstock.alias import children, choice, process


def run_script(path, arguments, version=None):
    """Runs a program as `python PATH ARGUMENTS` would; the exit status."""
    with open(path, "rb") as f:
        source = f.read()
    _install(version, path, source, path)
    file = os.path.abspath(path)
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    return _run(lambda: compile(source, file, "exec", dont_inherit=True), [path, *arguments], __file__=file,
                __cached__=None)


def run_module(name, arguments, version=None):
    """Runs a program as `python -m NAME ARGUMENTS` would; the exit status. ImportError if there is no such module."""
    sys.path[0] = os.getcwd()
    if name.split(".")[0] == "tensorflow":  # one of its tools, which are here once the alias is
        alias.install(version or alias.installed() or children.wanted() or "v2")
        spec: Any = importlib.util.find_spec(name + ".__main__")
        if spec is None:
            raise ModuleNotFoundError("No code of module %r can be run" % name, name=name)
    else:
        spec = _spec_on_path(name)
        source = spec.loader.get_source(spec.name) if spec.loader is not None else None
        if source is None:
            raise ModuleNotFoundError("No code of module %r can be run" % name, name=name)
        _install(version, name, source, spec.origin, sys.path[0])
        if "." in spec.name:
            importlib.import_module(spec.name.rpartition(".")[0])
    return _run(lambda: spec.loader.get_code(spec.name), [spec.origin, *arguments], __file__=spec.origin,
                __spec__=spec, __loader__=spec.loader, __package__=spec.parent, __cached__=spec.cached)


def _spec_on_path(name):
    """Found without importing its packages: they may import TensorFlow, and the alias must come first."""
    spec, path, parts = None, None, name.split(".")
    for end in range(1, len(parts) + 1):
        spec = importlib.machinery.PathFinder.find_spec(".".join(parts[:end]), path)
        path = None if spec is None else spec.submodule_search_locations
        if spec is None or (path is None and end < len(parts)):
            raise ModuleNotFoundError("No module named %r" % name, name=name)
    if path is not None:
        spec = importlib.machinery.PathFinder.find_spec(name + ".__main__", path)
        if spec is None:
            raise ModuleNotFoundError("No code of module %r can be run" % name, name=name)
    return spec


def _install(version, what, source, path, folder=None):
    version = version or children.wanted()
    if version is None:
        version, why = choice.decide(source, path, folder)
        process.say(what, version, why)
    alias.install(version)


def _run(code, arguments, **names):
    """Runs code as the main module: flags, pickle and multiprocessing look for the program there."""
    sys.argv = arguments
    module = types.ModuleType("__main__")
    module.__dict__.update({"__builtins__": __builtins__, "__loader__": None, "__annotations__": {}, **names})
    sys.modules["__main__"] = module
    try:
        exec(code(), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        return _report(error)
    return 0


def _report(error):
    """Shows an error as Python does where it ends a program, without the frames of this module."""
    for each in _with_causes(error):
        trace = each.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        each.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _with_causes(error):
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
