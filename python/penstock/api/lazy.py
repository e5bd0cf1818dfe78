"""Namespaces whose names are resolved on first use through the tables of penstock.api."""
import functools
import importlib
import importlib.machinery
import os
import sys
import types

from penstock import api
from penstock._src.base import hooks
from penstock._src.graph import dispatch

TYPE_CHECKING = False  # as typing has it, whose import would take longer than that of the package
if TYPE_CHECKING:
    from typing import Any


_missing_name = hooks.Hook("missing_name")
_built: list = []


def rows_of(sources):
    """name -> "module:attribute" of {module: "name other=attribute"}."""
    rows = {}
    for source, names in sources.items():
        for name in names.split():
            public, _, attribute = name.partition("=")
            rows[public] = f"{source}:{attribute or public}"
    return rows


@functools.cache
def tables(version: str) -> list[str]:
    """The names of a version's tables; the first ones yield to those that come later."""
    folder = os.path.join(os.path.dirname(__file__), version)
    found = {f[:-3] for f in os.listdir(folder) if f.endswith(".py") and f != "__init__.py"}
    if version == "v1":
        found.update(api.SAME.split())
    return sorted(found, key=lambda name: (name != "_names", name))


def _module(version, table=None):
    return importlib.import_module(".".join(filter(None, ["penstock.api", version, table])))


def read_table(version: str, table: str) -> dict[str, str]:
    """name -> "module:attribute" of one table. One of version 1 has the rows of version 2's table of that name too, but
    for those that it has itself or takes out."""
    rows: dict[str, str] = {}
    if version == "v1":
        if table in tables("v2"):
            rows = read_table("v2", table)
        if table in api.SAME.split():
            return rows
    module = _module(version, table)
    for name in getattr(module, "WITHOUT", "").split():
        del rows[name]
    return {**rows, **rows_of(getattr(module, "FROM", {})), **getattr(module, "NAMES", {})}


def value_of(target):
    """The module or attribute that "module:attribute" names. AttributeError if the module lacks it."""
    module, _, attribute = target.partition(":")
    value: Any = importlib.import_module(hooks.full_name(module))
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value


def names_so_far(module) -> dict:
    """A module's dictionary as it is; to ask a Namespace for its `__dict__` resolves all its names."""
    plain: Any = vars(types.ModuleType)["__dict__"]
    return plain.__get__(module)


def loaded():
    """All namespaces that were built."""
    return list(_built)


@dispatch.changed.add
def _refresh():
    """Puts functions that look at their arguments in the place of those that did not."""
    for namespace in _built:
        names = names_so_far(namespace)
        for name, target in (namespace._rows or {}).items():
            if isinstance(names.get(name), types.FunctionType):
                names[name] = dispatch.dispatched(target, dispatch.undispatched(names[name]))


class Namespace(types.ModuleType):
    """A module made of tables; a name that was used once is an ordinary attribute from then on."""

    def __init__(self, name, version, tables):
        super().__init__(name)
        self.__path__ = []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        self._version = version
        self._tables = tables
        self._rows = None
        _built.append(self)

    def _load(self):
        if self._rows is None:
            rows = {}
            for table in self._tables:
                rows.update(read_table(self._version, table))
            self._rows = rows
        return self._rows

    def __reduce__(self):
        return importlib.import_module, (self.__name__,)  # by name, as modules that functions refer to are pickled

    def __getattr__(self, name):
        if name.startswith("__") and not name.endswith(("version__", "_flag__", "_build__")):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        target = self._load().get(name)
        if target is None:
            raise _missing_name(self.__name__, name)
        try:
            value = value_of(target)
        except AttributeError as e:
            raise _missing_name(self.__name__, name, f" ({target} is absent)") from e
        value = names_so_far(self)[name] = dispatch.dispatched(target, value)
        return value

    @property
    def __dict__(self):  # type: ignore[override]
        """All names, for programs that go through them, and for `import *`."""
        for name in self._load():
            getattr(self, name)
        return names_so_far(self)

    def __dir__(self):
        hidden = ("_version", "_tables", "_rows")
        return sorted({n for n in names_so_far(self) if n not in hidden} | set(self._load()))


# Namespaces whose names begin and end with underscores, which file names use as separators.
_UNDERSCORED = {"internal": "__internal__", "operators": "__operators__"}


def build(version, aliases):
    """The tree of namespaces of one version, entered in sys.modules under each of `aliases`; the root is returned."""
    files = tables(version)
    root = Namespace(aliases[0], version, [f for f in files if f.startswith("_")])
    root.__file__ = os.path.join(os.path.dirname(os.path.dirname(__file__)), version + ".py")
    made = {"": root}
    for file in files:
        if file.startswith("_"):
            continue
        first, *rest = file.split("__")
        path = ".".join([_UNDERSCORED.get(first, first), *rest])
        for end in [i for i, c in enumerate(path) if c == "."] + [len(path)]:
            part = path[:end]
            if part not in made:
                parent, _, last = part.rpartition(".")
                made[part] = Namespace(f"{aliases[0]}.{part}", version, [])
                setattr(made[parent], last, made[part])
        made[path]._tables.append(file)
    for path, namespace in made.items():
        for alias in aliases:
            sys.modules[f"{alias}.{path}" if path else alias] = namespace
    return root
