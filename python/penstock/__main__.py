"""python -m penstock: runs a TensorFlow program on Penstock."""
import importlib.machinery
import os
import runpy
import sys
import types
from typing import Any

_USAGE = """\
usage: python -m penstock [--v1 | --v2] SCRIPT [ARGUMENT...]
       python -m penstock [--v1 | --v2] -m MODULE [ARGUMENT...]
       python -m penstock doctor
       python -m penstock inspect FILE
       python -m penstock records {count,show,convert,shard} FILE...
       python -m penstock saved-model show|run|scan DIRECTORY [OPTION...]
       python -m penstock draw GRAPH -o GRAPH.svg [--depth N] [--expand SCOPE]...
       python -m penstock --version

SCRIPT, or MODULE, runs with `import tensorflow` giving Penstock: as TensorFlow 1.15 with --v1, as TensorFlow 2 with
--v2. Without either the script's source decides: tf.contrib, tf.Session, tf.placeholder and other names that only
version 1 has at the top level mean version 1.
"""

def _install(version, what, source):
    from penstock import alias
    from penstock.alias import choice
    if version is None:
        version, why = choice.decide(source)
        print("penstock: %s runs as TensorFlow %s (%s; --v1 and --v2 choose)" %
              (what, alias.VERSIONS[version], why), file=sys.stderr)
    alias.install(version)


def run_script(path, arguments, version=None):
    """Runs a program as `python PATH ARGUMENTS` would, on Penstock."""
    with open(path, "rb") as f:
        source = f.read()
    _install(version, path, source)
    sys.argv = [path] + list(arguments)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    module: Any = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    # The program is the main module: flags, pickle and multiprocessing look there.
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec"), module.__dict__)


def run_module(name, arguments, version=None):
    """Runs a program as `python -m NAME ARGUMENTS` would, on Penstock. ImportError if there is no such module."""
    sys.path[0] = os.getcwd()
    # Found without importing its packages: they may import TensorFlow, and the alias must come first.
    spec: Any = None
    path: Any = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        spec = importlib.machinery.PathFinder.find_spec(".".join(parts[:end]), path)
        path = None if spec is None else spec.submodule_search_locations
        if spec is None or (path is None and end < len(parts)):
            raise ModuleNotFoundError("No module named %r" % name, name=name)
    if path is not None:
        spec = importlib.machinery.PathFinder.find_spec(name + ".__main__", path)
    source = spec.loader.get_source(spec.name) if spec is not None and spec.loader is not None else None
    if source is None:
        raise ModuleNotFoundError("No code of module %r can be run" % name, name=name)
    _install(version, name, source)
    sys.argv = [spec.origin] + list(arguments)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def main(arguments=None):
    """The command line, by default this process's; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    version = None
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-m" and arguments:
            return _run(run_module, arguments, version)
        if option in ("--v1", "--v2"):
            version = option[2:]
        elif option == "--version":
            import penstock
            print("penstock", penstock.__version__)
            return 0
        elif option in ("-h", "--help"):
            print(_USAGE, end="")
            return 0
        else:
            print("penstock: unknown option %s\n\n%s" % (option, _USAGE), end="", file=sys.stderr)
            return 2
    if not arguments:
        print(_USAGE, end="", file=sys.stderr)
        return 2
    if version is None and arguments[0] == "doctor":
        from penstock.alias import doctor
        doctor.doctor()
        return 0
    if version is None and arguments[0] == "inspect":
        if len(arguments) != 2:
            print("penstock inspect: one FILE, or directory, is to be named", file=sys.stderr)
            return 2
        from penstock._src.tools import inspect
        return inspect.inspect(arguments[1], sys.stdout)
    if version is None and arguments[0] == "records":
        from penstock._src.tools import records
        return records.main(arguments[1:])
    if version is None and arguments[0] == "saved-model":
        from penstock._src.tools import saved_model_cli
        return saved_model_cli.main(arguments[1:])
    if version is None and arguments[0] == "draw":
        from penstock._src.tools import draw
        return draw.main(arguments[1:])
    if not os.path.exists(arguments[0]):
        print("penstock: can't open file %r: No such file" % arguments[0], file=sys.stderr)
        return 2
    return _run(run_script, arguments, version)


def _run(run, arguments, version):
    try:
        run(arguments[0], arguments[1:], version)
    except ImportError as e:
        if str(e).startswith("Penstock does not have"):
            print("penstock: %s" % e, file=sys.stderr)
            return 2
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
