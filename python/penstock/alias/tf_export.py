"""Marks of the names under which code that is written against TensorFlow's sources exports its symbols.

They are attributes of the symbols (`_tf_api_names`, `_tf_api_names_v1`, ...), as there; nothing here reads them.
"""
import collections
import functools
import sys
from typing import Any

from penstock._src.base import tf_decorator
from penstock._src.base import tf_inspect

ESTIMATOR_API_NAME = "estimator"
KERAS_API_NAME = "keras"
TENSORFLOW_API_NAME = "tensorflow"
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]  # which TensorFlow itself exports nothing below

_Attributes = collections.namedtuple(  # type: ignore[name-match]
    "ExportedApiAttributes", ["names", "constants"])
_PREFIXES = {TENSORFLOW_API_NAME: "_tf_api", ESTIMATOR_API_NAME: "_estimator_api", KERAS_API_NAME: "_keras_api"}
API_ATTRS = {api: _Attributes(f"{prefix}_names", f"{prefix}_constants") for api, prefix in _PREFIXES.items()}
API_ATTRS_V1 = {api: _Attributes(f"{prefix}_names_v1", f"{prefix}_constants_v1") for api, prefix in _PREFIXES.items()}
_exported: dict[str, Any] = {}  # name -> symbol


class SymbolAlreadyExposedError(Exception):
    """A symbol has names of the API already."""


class InvalidSymbolNameError(Exception):
    """A name that this API may not export."""


def get_canonical_name(api_names, deprecated_api_names):
    """The first name that is not deprecated, else the first; None if there is none."""
    return next((name for name in [*api_names, None] if name not in deprecated_api_names),
                None) or next(iter(api_names), None)


def get_canonical_name_for_symbol(symbol, api_name=TENSORFLOW_API_NAME, add_prefix_to_v1_names=False):
    """The preferred name of an exported symbol: one of version 2, else of version 1 (below `compat.v1.`, if asked for);
    None if it is not exported."""
    marks = getattr(tf_decorator.unwrap(symbol)[1], "__dict__", {})
    if API_ATTRS[api_name].names not in marks:
        return _public_name(symbol, add_prefix_to_v1_names) if api_name == TENSORFLOW_API_NAME else None
    deprecated = marks.get("_tf_deprecated_api_names", [])
    name = get_canonical_name(marks[API_ATTRS[api_name].names], deprecated)
    if name:
        return name
    name = get_canonical_name(marks[API_ATTRS_V1[api_name].names], deprecated)
    return f"compat.v1.{name}" if add_prefix_to_v1_names else name


# Public functions that TensorFlow prefers under another name than most: of several, those below `math` come first, then
# other namespaces but `nn`.
_PREFERRED = ("cast", "einsum", "eye", "math.floormod", "nn.local_response_normalization", "nn.log_softmax",
              "nn.softmax", "nn.softsign", "norm", "space_to_batch", "tensordot")


def _public_name(symbol, add_prefix):
    """The preferred public name of a function of Penstock's own, or None."""
    from penstock import v1, v2
    from penstock.api import lazy
    behind = getattr(symbol, "__wrapped__", symbol)
    if not getattr(behind, "__module__", "").startswith("penstock."):
        return None
    for root, prefix in ((v2, ""), (v1, "compat.v1." if add_prefix else "")):
        names = []
        for namespace in lazy.loaded():
            path = namespace.__name__ + "."
            if not path.startswith(root.__name__ + ".") or path.startswith(root.__name__ + ".compat."):
                continue
            below = path[len(root.__name__) + 1:]
            for name, target in namespace._load().items():
                if name == behind.__name__ or target.endswith(":" + behind.__name__):
                    value = getattr(namespace, name, None)
                    if getattr(value, "__wrapped__", value) is behind:
                        names.append(below + name)
        if names:
            return prefix + min(names, key=lambda name: (name not in _PREFERRED, not name.startswith("math."),
                                                         "." not in name, name.startswith("nn."), len(name), name))
    return None


def _marked(owner, attributes, kind):
    marks = getattr(owner, "__dict__", {})
    return [mark for each in attributes.values() for mark in marks.get(getattr(each, kind), ())]


def get_v1_names(symbol):
    """The names that a symbol is exported under in version 1, in all APIs."""
    return _marked(symbol, API_ATTRS_V1, "names")


def get_v2_names(symbol):
    """The names that a symbol is exported under in version 2, in all APIs."""
    return _marked(symbol, API_ATTRS, "names")


def get_v1_constants(module):
    """[(names, constant)] that a module exports in version 1."""
    return _marked(module, API_ATTRS_V1, "constants")


def get_v2_constants(module):
    """[(names, constant)] that a module exports in version 2."""
    return _marked(module, API_ATTRS, "constants")


class api_export:  # noqa: N801
    """Decorator that marks a function or class with the names it is exported under; the first is the preferred one.

    v1: the names of version 1, if they differ. overrides: symbols that lose their marks. InvalidSymbolNameError: names
    of another API. SymbolAlreadyExposedError: it is marked already, and not `allow_multiple_exports`.
    """

    def __init__(self, *names, api_name=TENSORFLOW_API_NAME, overrides=(), allow_multiple_exports=False, **versions):
        if set(versions) - {"v1"}:
            raise ValueError(f"You passed {sorted(set(versions) - {'v1'})} to tf_export: names of version 2 are its "
                             "positional arguments.")
        self._names, self._names_v1 = names, versions.get("v1", names)
        self._api_name, self._overrides, self._again = api_name, overrides, allow_multiple_exports
        everything = {*self._names, *self._names_v1}
        if api_name == TENSORFLOW_API_NAME:
            for package in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(package) for name in everything):
                    raise InvalidSymbolNameError(f"@tf_export is not allowed to export symbols under {package}.*")
        elif not all(name.startswith(api_name) for name in everything):
            raise InvalidSymbolNameError("Can only export symbols under package name of component. e.g. "
                                         "tensorflow_estimator must export all symbols under tf.estimator")

    def __call__(self, func):
        marks = {API_ATTRS[self._api_name].names: self._names, API_ATTRS_V1[self._api_name].names: self._names_v1}
        for overridden in self._overrides:
            symbol = tf_decorator.unwrap(overridden)[1]
            for mark in marks:
                if mark in symbol.__dict__:
                    delattr(symbol, mark)
        symbol = tf_decorator.unwrap(func)[1]
        for mark, names in marks.items():
            if mark in symbol.__dict__ and not self._again:  # its own, not what it inherits
                raise SymbolAlreadyExposedError(
                    f"Symbol {symbol.__name__} is already exposed as {getattr(symbol, mark)}.")
            setattr(symbol, mark, names)
        _exported.update({name: func for name in self._names})
        _exported.update({f"compat.v1.{name}": func for name in self._names_v1})
        return func

    def export_constant(self, module_name, name):
        """Marks a module's constant, in the module."""
        module = sys.modules[module_name]
        for attributes, names in ((API_ATTRS, self._names), (API_ATTRS_V1, self._names_v1)):
            mark = attributes[self._api_name].constants
            module.__dict__.setdefault(mark, []).append((names, name))


def kwarg_only(f):
    """A function that takes its arguments by name only. TypeError otherwise."""
    spec = tf_inspect.getfullargspec(f)

    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args (possible keys: {spec.args}). Please pass these "
                            "args as kwargs instead.")
        return f(**kwargs)

    return tf_decorator.make_decorator(f, wrapper, decorator_argspec=spec)


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def get_symbol_from_name(name):
    """The function or class of a public name, "nn.relu" or "compat.v1.nn.relu", or that exported as "keras...."; None
    if there is none. Names of Keras are those of tf_keras once that is loaded; Keras itself exports none."""
    import importlib
    if name in _exported:
        return _exported[name]
    if name.split(".")[0] == KERAS_API_NAME or name.startswith("compat.v1.keras"):
        return None
    found: Any = importlib.import_module("penstock.v2")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None
