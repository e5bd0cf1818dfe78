"""The import hook behind the alias: `tensorflow` and all below it come from Penstock, even if TensorFlow is
installed."""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import types

from penstock.alias import children
from penstock.alias import places
from penstock.alias import table
from penstock.api import lazy
from penstock._src.graph import dispatch
from penstock._src.base import foreign_names
from penstock._src.base import tf2

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any

VERSIONS = {"v1": "1.15.5", "v2": "2.21.0"}
_ROOTS = {"v1": "penstock.v1", "v2": "penstock.v2"}
# tf_keras requires TensorFlow.
INSTALLS_TF_KERAS = "pip install --no-deps tf_keras && pip install absl-py h5py packaging requests six wrapt"
_ESTIMATOR = "tensorflow_estimator"  # a package of its own, whose modules are here where version 1 had them first
_finder = None


def installed():
    """The version ("v1" or "v2") that `import tensorflow` gives, or None."""
    return None if _finder is None else _finder.version


def install(version="v1", children_too=True):
    """Makes `import tensorflow` give Penstock's module of that version in this process, from now on, and in those that
    it starts if `children_too`.

    RuntimeError if TensorFlow has been imported already, or the other version was installed.
    """
    global _finder
    if version not in _ROOTS:
        raise ValueError("version must be one of %s, not %r" % (sorted(_ROOTS), version))
    if _finder is not None:
        if _finder.version != version:
            raise RuntimeError("tensorflow stands for version %s already" % VERSIONS[_finder.version])
        return
    if "tensorflow" in sys.modules:
        raise RuntimeError("TensorFlow has been imported already; the alias must come first")
    if not children.is_real(importlib.util.find_spec("tensorflow")):
        # Nobody else owns TensorFlow's messages, so messages of other packages may contain ours.
        from penstock import proto
        proto.use_default_pool()
    foreign_names.use()
    _finder = _Finder(version)
    sys.meta_path.insert(0, _finder)
    if children_too:
        children.inherit(version)
    if os.environ.get("PENSTOCK_COMPAT"):
        from penstock.alias import old_names
        old_names.restore()
    if os.environ.get("PENSTOCK_PROGRESS"):
        from penstock.alias import progress
        progress.start()


# The functions that `python -m tensorflow.NAME` runs.
_TOOLS = {f"python.tools.{name}.__main__": f"penstock._src.tools.{name}:{function}" for name, function in (
    ("freeze_graph", "run_main"), ("saved_model_cli", "main"))}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `tensorflow`, the public namespaces, messages, and internal modules by the table."""

    def __init__(self, version):
        self.version = version
        self.root = _ROOTS[version]

    def find_spec(self, name, path=None, target=None):
        if name == "tensorflow":
            return self._spec(name, lambda: importlib.import_module(self.root))
        if name == _ESTIMATOR:
            return self._spec(name, lambda: _Package(name))
        if name.startswith(_ESTIMATOR + "."):
            inside = "tensorflow" + name[len(_ESTIMATOR):]
            return self._spec(name, lambda: importlib.import_module(inside))
        if self.version == "v1" and (name == "keras" or name.startswith("keras.")):
            return self._keras(name)
        if not name.startswith("tensorflow."):
            return None
        inner = name[len("tensorflow."):]
        if self.version == "v2" and inner.split(".")[0] == "contrib":
            raise self._absent(name, inner)
        if inner in _TOOLS:
            return importlib.machinery.ModuleSpec(name, _Tool(_TOOLS[inner]), origin=__file__)
        public = self._public(inner)
        if public is not None:
            return self._spec(name, lambda: public)
        if inner == "core" or inner.startswith("core.") or inner.endswith("_pb2"):
            return self._message_spec(name)
        package = table.in_keras(inner)
        if package is not None and _exists(package):
            return self._spec(name, lambda: importlib.import_module(package))
        where = table.target(inner)
        if where is not None and _exists("penstock." + places.place(where)):
            return self._spec(name, lambda: self._module(name, where))
        if table.is_package(inner):
            return self._spec(name, lambda: _Package(name, self._namespace(inner)))
        raise self._absent(name, inner)

    def _absent(self, name, inner):
        from penstock.alias import missing
        reason = missing.reason(inner, self.version[1:]) or "Penstock has nothing of that name"
        return ModuleNotFoundError("No module named %r (%s)" % (name, reason), name=name)

    def _keras(self, name):
        """The package Keras of a program of version 1 is tf_keras: Keras 3 needs version 2. Modules of the program, and
        an older Keras, keep the name."""
        if "keras" in sys.modules and not _is_tf_keras(sys.modules["keras"]):
            return None
        there = importlib.machinery.PathFinder.find_spec("keras")
        folder = os.path.dirname(getattr(there, "origin", None) or "")
        if there is not None and not os.path.isdir(os.path.join(folder, "src")):
            return None
        if not _exists("tf_keras"):
            raise ModuleNotFoundError(
                "No module named 'keras' for programs of TensorFlow 1: it is the package tf_keras there, which is not "
                f"installed: {INSTALLS_TF_KERAS}", name=name)
        inside = name[len("keras"):]
        for place in ("tf_keras.api._v1.keras", "tf_keras.src", "tf_keras"):
            if _exists(place + inside):
                return self._spec(name, lambda: importlib.import_module(place + inside))
        raise ModuleNotFoundError("No module named %r (tf_keras has nothing of that name)" % name, name=name)

    def _module(self, name, where):
        """The module `penstock.WHERE` as programs import it."""
        if ".python." in name and name.startswith("tensorflow.contrib.") and not _is_public(where):
            found = importlib.import_module("penstock." + places.place(where))
            return _Public(name, found, where, self._public(".".join(name.split(".")[1:3])))
        return internal_module(where, name)

    def _namespace(self, inner):
        """Where the names of a package of the table are looked for that are no modules, or None."""
        if inner in table.NAMESPACES:
            return self._public(table.NAMESPACES[inner])
        if inner in table.PACKAGES and _exists("penstock." + places.place(table.PACKAGES[inner])):
            return internal_module(table.PACKAGES[inner])
        return None

    def _public(self, inner):
        """The namespace or module that the public API has under that name, or None."""
        found: Any = importlib.import_module(self.root)
        for part in inner.split("."):
            found = lazy.names_so_far(found).get(part) if part.startswith("_") else getattr(found, part, None)
            if not isinstance(found, types.ModuleType) or isinstance(found, _Package):
                return None
        return found

    def _message_spec(self, name):
        from penstock import proto
        if name.endswith("_pb2"):
            return self._spec(name, lambda: proto.pb2_module(name))
        if any(known.startswith(name + ".") for known in proto.pb2_names()):
            return self._spec(name, lambda: _Package(name))
        raise ModuleNotFoundError("No module named %r (Penstock has nothing of that name)" % name, name=name)

    @staticmethod
    def _spec(name, find):
        return importlib.machinery.ModuleSpec(name, _Loader(find), is_package=True)

    def find_distributions(self, context=None):
        """For importlib.metadata: there is a distribution `tensorflow` of the version that we stand for."""
        wanted = getattr(context, "name", None)
        if wanted is None or wanted.lower() == "tensorflow":
            yield _Distribution(VERSIONS[self.version])


def _is_public(where):
    return where in table.BESIDE or where in table.BY_VERSION or where.startswith("ops.") and where.count(".") == 1


def internal_module(where, name=None):
    """The module that the table calls `where`, as programs import it under TensorFlow's name for it."""
    found = importlib.import_module("penstock." + places.place(where))
    return _Public(name or found.__name__, found, where) if _is_public(where) else found


def _is_tf_keras(module):
    return "tf_keras" in (getattr(module, "__file__", None) or "")


def _exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Loader(importlib.abc.Loader):
    """Hands out a module that exists under another name, and leaves it as it was."""

    def __init__(self, find):
        self._find = find
        self._spec = None

    def create_module(self, spec):
        module = self._find()
        self._spec = getattr(module, "__spec__", None)
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec


class _Tool(importlib.abc.InspectLoader):
    """A main module that calls one function, `module:name`."""

    def __init__(self, function):
        self._module, self._function = function.split(":")

    def get_source(self, fullname):
        return f"import sys\nfrom {self._module} import {self._function} as main\nsys.exit(main())\n"

    def is_package(self, fullname):
        return False


class _Package(types.ModuleType):
    """A package of the table; what is below it is found by the finder, other names in a namespace if it has one."""

    def __init__(self, name, namespace=None):
        super().__init__(name)
        self.__path__ = []
        self._namespace = namespace

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._names(name):
            return getattr(self._namespace, name)
        try:
            return importlib.import_module("%s.%s" % (self.__name__, name))
        except ModuleNotFoundError as e:
            if self._namespace is None or not hasattr(self._namespace, name):
                raise AttributeError("module %r has no attribute %r" % (self.__name__, name)) from e
            return getattr(self._namespace, name)

    def __setattr__(self, name, value):
        if not isinstance(value, types.ModuleType) or not self._names(name):
            super().__setattr__(name, value)

    def _names(self, name):
        """Whether the namespace has a function or class of that name: it hides a module, as in TensorFlow."""
        namespace = self.__dict__.get("_namespace")
        found = None if namespace is None or name.startswith("_") else getattr(namespace, name, None)
        return found is not None and not isinstance(found, types.ModuleType)


class _Public(types.ModuleType):
    """A module whose functions are the public ones, as TensorFlow's are: those with a row in the tables of
    graph/dispatch.py take ragged tensors too, and the others that are in these. All else is the module's behind it,
    and so is what is set. What that module lacks is looked for in the table's rows, among the functions made from op
    definitions, and in `beside`, the package's public namespace."""

    def __init__(self, name, behind, where, beside=None):
        super().__init__(name)
        for attribute, value in [("_behind", behind), ("_where", where), ("_beside", beside),
                                 ("_place", places.place(where).removeprefix("_src.")),
                                 ("_rows", lazy.rows_of(table.BESIDE.get(where, {}))),
                                 ("__spec__", behind.__spec__), ("__doc__", behind.__doc__)]:
            super().__setattr__(attribute, value)

    def __getattr__(self, name):
        if name == "__all__":  # for `import *`, which would see nothing else
            return getattr(self._behind, name, [known for known in dir(self._behind) if not known.startswith("_")])
        try:
            value = getattr(self._behind, self._of_version(name))
        except AttributeError:
            value = self._from_elsewhere(name)
            if value is None:
                raise
        return dispatch.public(f"{self._place}:{name}", value) if isinstance(value, types.FunctionType) else value

    def _of_version(self, name):
        """The name that the wrapped module has for `name` in the version in use."""
        if name not in table.BY_VERSION.get(self._where, "").split():
            return name
        return f"{name}{'V' if name[0].isupper() else '_v'}{1 + tf2.enabled()}"

    def _from_elsewhere(self, name):
        if name in self._rows:
            return lazy.value_of(self._rows[name])
        if self._where in table.WITH_GENERATED and not name.startswith("__"):
            generated = importlib.import_module("penstock." + places.place(table.GENERATED))
            if name.startswith("gen_") and name.endswith("_ops"):  # modules of TensorFlow have what they import
                return generated
            found = getattr(generated, name, None)
            if found is not None:
                return found
        return None if self._beside is None or name.startswith("_") else getattr(self._beside, name)

    def __setattr__(self, name, value):
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            setattr(self._behind, name, dispatch.undispatched(value))

    def __delattr__(self, name):
        delattr(self._behind, name)

    def __dir__(self):
        return sorted({*dir(self._behind), *self._rows, *table.BY_VERSION.get(self._where, "").split()})


class _Distribution(importlib.metadata.Distribution):
    """What importlib.metadata tells about `tensorflow`."""

    def __init__(self, version):
        self._version = version

    def read_text(self, filename):
        if filename == "METADATA":
            return "Metadata-Version: 2.1\nName: tensorflow\nVersion: %s\n" % self._version
        return None

    def locate_file(self, path):
        return path
