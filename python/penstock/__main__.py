"""python -m penstock: runs a TensorFlow program on Penstock."""
import ast
import importlib.machinery
import os
import re
import runpy
import sys
import types

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

# Attributes of the module that version 2 does not have at its top level.
_ONLY_V1 = frozenset("""
    app assign assign_add assign_sub ConfigProto contrib flags get_collection get_default_graph get_variable gfile
    global_variables global_variables_initializer initialize_all_variables InteractiveSession layers local_variables
    local_variables_initializer log logging losses multinomial placeholder placeholder_with_default Print random_normal
    random_uniform reset_default_graph scan_v1 Session set_random_seed sparse_placeholder to_float to_int32 to_int64
    trainable_variables truncated_normal truncated_normal_initializer variable_scope xavier_initializer""".split())


def decide(source):
    """("v1" or "v2", why) by the names that a program uses of TensorFlow."""
    names = _module_names(source)
    found = sorted(name for name in names if name in _ONLY_V1)
    if found:
        return "v1", "it uses tf.%s" % found[0]
    if "compat.v1" in names:
        return "v1", "it imports tensorflow.compat.v1"
    return "v2", "nothing in it belongs to version 1 alone"


def _module_names(source):
    """Names taken from the TensorFlow module, "compat.v1" among them if that is imported."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # Python will say what is wrong when it runs the script.
        text = source.decode(errors="replace") if isinstance(source, bytes) else source
        return set(re.findall(r"\btf\.(\w+)", text))
    bound, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.name == "tensorflow":
                    bound.add(item.asname or "tensorflow")
                elif item.name.startswith("tensorflow."):
                    bound.update([item.asname] if item.asname and "compat.v1" in item.name else ["tensorflow"])
                    names.add("compat.v1" if item.name.startswith("tensorflow.compat.v1")
                              else item.name.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tensorflow":
            parts = node.module.split(".")
            if node.module.startswith("tensorflow.compat") and (parts[2:3] == ["v1"] or any(
                    item.name == "v1" for item in node.names)):
                names.add("compat.v1")
            elif len(parts) > 1:
                names.add(parts[1])
            else:
                names.update(item.name for item in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            names.add(node.attr)
    return names


def _install(version, what, source):
    from penstock import alias
    if version is None:
        version, why = decide(source)
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
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    # The program is the main module: flags, pickle and multiprocessing look there.
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec"), module.__dict__)


def run_module(name, arguments, version=None):
    """Runs a program as `python -m NAME ARGUMENTS` would, on Penstock. ImportError if there is no such module."""
    sys.path[0] = os.getcwd()
    # Found without importing its packages: they may import TensorFlow, and the alias must come first.
    spec, path, parts = None, None, name.split(".")
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


def doctor(out=None):
    """Prints what a report of a problem should say: versions, processor, devices, environment."""
    out = out or sys.stdout
    import platform

    import numpy
    import penstock
    from penstock import _core, alias

    def line(what, value):
        print("%-12s %s" % (what, value), file=out)

    line("penstock", "%s (%s)" % (penstock.__version__, os.path.dirname(os.path.abspath(__file__))))
    line("native", getattr(_core, "__file__", "built in"))
    line("python", "%s (%s)" % (platform.python_version(), sys.executable))
    line("numpy", numpy.__version__)
    try:
        import google.protobuf
        line("protobuf", google.protobuf.__version__)
    except ImportError:
        line("protobuf", "missing")
    line("system", platform.platform())
    line("processor", _processor())
    line("cores", "%d of %s" % (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
                                os.cpu_count()))
    line("features", " ".join(_features()) or "unknown")
    line("ops", "%d" % len(_core.op_names()))
    for device in _core.list_local_devices():
        line("device", "%s (%s)" % (device.name, device.device_type))
    line("tensorflow", "stands for %s" % alias.VERSIONS[alias.installed()] if alias.installed() else
         "installed %s" % _installed_tensorflow())
    line("mode", "version 1 or 2, by script")
    for name in sorted(os.environ):
        if name.startswith(("TF_", "PENSTOCK_", "CUDA_VISIBLE", "OMP_")):
            line("environment", "%s=%s" % (name, os.environ[name]))


def _cpuinfo(key):
    try:
        with open("/proc/cpuinfo") as f:
            for text in f:
                name, _, value = text.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def _processor():
    import platform
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _features():
    have = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    telling = ("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "amx_bf16",
               "asimd", "sve")
    return [name for name in telling if name in have]


def _installed_tensorflow():
    import importlib.metadata
    try:
        return importlib.metadata.version("tensorflow")
    except importlib.metadata.PackageNotFoundError:
        return "nowhere"


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
        doctor()
        return 0
    if version is None and arguments[0] == "inspect" and len(arguments) == 2:
        from penstock.tools import inspect
        return inspect.inspect(arguments[1], sys.stdout)
    if version is None and arguments[0] == "records" and len(arguments) > 1:
        from penstock.tools import records
        return records.main(arguments[1:])
    if version is None and arguments[0] == "saved-model":
        from penstock.tools import saved_model_cli
        return saved_model_cli.main(arguments[1:])
    if version is None and arguments[0] == "draw":
        from penstock.tools import draw
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
