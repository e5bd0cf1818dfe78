"""Prints the names that programs find: {module as TensorFlow calls it: names} of one version, as JSON.

`python names.py v1` walks the public namespaces, and every internal module that has a row in `alias/table.py` or in
`names.json.gz`, the record that `test_names.py` compares with."""
import importlib
import json
import os
import pkgutil
import sys
import types
import warnings


def public(root, name):
    """(namespace, its names) of a public module and of those below it."""
    from penstock.api import lazy
    found, seen, waiting = {}, {id(root)}, [(name, root)]
    while waiting:
        path, module = waiting.pop()
        found[path] = sorted(n for n in dir(module) if not n.startswith("__"))
        for each in found[path]:
            value = lazy.names_so_far(module).get(each) or getattr(module, each, None)
            if isinstance(value, lazy.Namespace) and id(value) not in seen:
                seen.add(id(value))
                waiting.append((f"{path}.{each}", value))
    return found


def internal_modules():
    """The dotted names below `tensorflow` of all internal modules."""
    import penstock
    from penstock.alias import table
    names = {*table.MODULES, *table.NAMESPACES}
    folder = os.path.dirname(penstock.__file__)
    for package, place in table.PACKAGES.items():
        path = os.path.join(folder, *place.split("."))
        names.update(f"{package}.{each.name}" for each in pkgutil.iter_modules([path]) if not each.ispkg)
    return sorted(names)


def own(module):
    """What programs may take from an internal module: neither other modules nor what Python itself has."""
    found = []
    for name in dir(module):
        if name.startswith("__"):
            continue
        value = getattr(module, name, None)
        home = getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType) or isinstance(home, str) and not home.startswith("penstock"):
            continue
        found.append(name)
    return sorted(found)


def main(version, modules):
    warnings.simplefilter("ignore")
    from penstock import alias
    alias.install(version)
    import tensorflow as tf
    found = public(tf, "tensorflow")
    for name in modules or internal_modules():
        if "tensorflow." + name in found:
            continue
        try:
            module = importlib.import_module("tensorflow." + name)
        except ImportError:
            continue
        found["tensorflow." + name] = own(module)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin) if len(sys.argv) > 2 else None)
