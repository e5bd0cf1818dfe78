"""penstock alias --install: writes a package `tensorflow` that is Penstock into the current virtual environment."""
import argparse
import importlib.metadata
import os
import shutil
import sys
import sysconfig
from typing import Iterator

import penstock
from penstock.alias import finder, table

_REAL = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly")
_MARK = "penstock"  # in the file INSTALLER of the distribution
_SCRIPT = """#!{python}
import sys
from tensorflow.python.tools.saved_model_cli import main
sys.exit(main())
"""
_INIT = '''"""`import tensorflow` gives Penstock: `penstock alias --uninstall` removes this."""
from penstock.alias import children

children.take_over({version!r})
'''
_ANY = "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"


class Refused(Exception):
    """The environment is left as it is."""


def main(arguments):
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="penstock alias", description="Writes a package `tensorflow`, which is Penstock, into the current virtual "
        "environment, for tools and processes that `penstock run` does not start; or removes it.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--install", action="store_true", help="write the package; one of before is replaced")
    action.add_argument("--uninstall", action="store_true", help="remove it")
    version = parser.add_mutually_exclusive_group()
    version.add_argument("--v1", dest="version", action="store_const", const="v1", help="it is TensorFlow 1.15.5")
    version.add_argument("--v2", dest="version", action="store_const", const="v2",
                         help="it is TensorFlow 2; without either each program decides, and the package says 2")
    parser.add_argument("--system", action="store_true", help="also where there is no virtual environment")
    options = parser.parse_args(arguments)
    try:
        folder = site(options.system)
        if options.install:
            installed = install(folder, options.version)
            print(f"penstock alias: tensorflow {installed} is Penstock in {folder}")
        elif uninstall(folder):
            print(f"penstock alias: removed tensorflow from {folder}")
        else:
            raise Refused(f"there is no alias in {folder}")
    except (Refused, OSError) as error:
        print(f"penstock alias: {error}", file=sys.stderr)
        return 1
    return 0


def site(system=False):
    """The folder of packages of the current environment. Refused: it is the system's."""
    if sys.prefix == sys.base_prefix and not os.environ.get("CONDA_PREFIX") and not system:
        raise Refused("this is no virtual environment; --system writes into the Python of the system")
    return sysconfig.get_paths()["purelib"]


def ours(folder):
    """The folder of the distribution `tensorflow` that is the alias, or None."""
    for name in os.listdir(folder):
        if name.startswith("tensorflow-") and name.endswith(".dist-info"):
            installer = os.path.join(folder, name, "INSTALLER")
            if os.path.isfile(installer):
                with open(installer, encoding="utf-8") as f:
                    if f.read().strip() == _MARK:
                        return os.path.join(folder, name)
    return None


def install(folder, version=None):
    """Writes the package and its metadata; the version's number. Refused: TensorFlow is there."""
    if ours(folder) is None:
        for name in _REAL:
            for found in importlib.metadata.distributions(name=name, path=[folder]):
                raise Refused(f"{name} {found.version} is installed in {folder}: pip uninstall {name}")
        if os.path.lexists(os.path.join(folder, "tensorflow")):
            raise Refused(f"{os.path.join(folder, 'tensorflow')} is there, and no alias")
    uninstall(folder)
    number = finder.VERSIONS[version or "v2"]
    files = {os.path.join("tensorflow", "__init__.py"): _INIT.format(version=version)}
    files.update(stubs(version or "v2"))
    info = f"tensorflow-{number}.dist-info"
    files[os.path.join(info, "INSTALLER")] = _MARK + "\n"
    files[os.path.join(info, "METADATA")] = (
        f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {number}\nSummary: Penstock by the name of TensorFlow\n"
        f"Requires-Dist: penstock\n")
    files[os.path.join(info, "top_level.txt")] = "tensorflow\n"
    script = os.path.join(sysconfig.get_paths()["scripts"], "saved_model_cli")
    if not os.path.lexists(script):
        files[os.path.relpath(script, folder)] = _SCRIPT.format(python=sys.executable)
    record = os.path.join(info, "RECORD")
    files[record] = "".join(f"{path},,\n" for path in [*files, record])
    for path, text in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(text)
        if target.endswith("saved_model_cli"):
            os.chmod(target, 0o755)
    return number


def uninstall(folder):
    """Removes the alias; whether there was one."""
    info = ours(folder)
    if info is None:
        return False
    with open(os.path.join(info, "RECORD"), encoding="utf-8") as f:
        for line in f:
            path = os.path.normpath(os.path.join(folder, line.split(",")[0]))
            if os.path.exists(path) and not path.startswith((info, os.path.join(folder, "tensorflow") + os.sep)):
                os.remove(path)
    shutil.rmtree(os.path.join(folder, "tensorflow"), ignore_errors=True)
    shutil.rmtree(info)
    return True


def stubs(version):
    """{path: text} of files for type checkers and editors: those of the installed Penstock by TensorFlow's names; Keras
    and internal modules are of type Any."""
    home = os.path.dirname(os.path.abspath(penstock.__file__))
    if not os.path.exists(os.path.join(home, "__init__.pyi")):  # a tree that is not installed
        return {}
    found: dict[tuple, str] = {("tensorflow", "__init__.pyi"): _stub("penstock" if version == "v2" else "penstock.v1"),
             ("tensorflow", "py.typed"): ""}
    for below, package in ((("tensorflow",), "penstock._stubs.v2" if version == "v2" else "penstock.v1"),
                           (("tensorflow", "compat", "v1"), "penstock.compat.v1"),
                           (("tensorflow", "compat", "v2"), "penstock._stubs.v2")):
        for parts in _packages(os.path.join(home, *package.split(".")[1:])):
            found[below + parts + ("__init__.pyi",)] = _stub(".".join([package, *parts]))
    found["tensorflow", "compat", "v1", "__init__.pyi"] = _stub("penstock.compat.v1")
    found["tensorflow", "compat", "v2", "__init__.pyi"] = _stub("penstock")
    for name in ["keras", "compat", *table.PACKAGES, *table.MODULES, *table.NAMESPACES]:
        names = name.split(".")
        for end in range(1, len(names) + 1):
            found.setdefault(("tensorflow", *names[:end], "__init__.pyi"), _ANY)
    return {os.path.join(*parts): text for parts, text in found.items()}


def _stub(package):
    return f"from {package} import *\n__version__: str\n"


def _packages(folder) -> Iterator[tuple]:
    """The packages of stubs below a folder, as parts of their names."""
    for where, _, files in sorted(os.walk(folder)):
        if "__init__.pyi" in files and where != folder:
            yield tuple(os.path.relpath(where, folder).split(os.sep))
