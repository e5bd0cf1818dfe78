"""Writes the .pyi files of the installed package: what editors complete and type checkers check.

    python tools/stubs.py FOLDER     with penstock importable; FOLDER becomes an overlay of the package's folder

Public namespaces (penstock/v1, penstock/compat/v1, penstock/__init__) only say where a name comes from: they follow
from the tables of penstock/api. Those below version 2's module stand in penstock/_stubs: a folder of their name in the
package would pass for a module. Op functions follow from the ops' definitions. Classes that get operators and methods
while modules load (Tensor, Variable) are described as they are found.
"""
import ast
import enum
import functools
import importlib
import importlib.util
import inspect
import keyword
import os
import shutil
import sys

import stub_modules

from penstock.api import lazy
from penstock._src.base.hooks import full_name
from penstock._src.graph.definitions import op_functions
from penstock._src.graph.definitions import op_signature
from penstock import _core

# Modules whose classes are completed by other modules.
COMPLETED = ["penstock._src.graph.tensor", "penstock._src.graph.sparse_tensor", "penstock._src.ops.state.variables"]
COMPLETING = [f"penstock._src.{name}" for name in """
    core_ops.array_ops core_ops.math_ops ops.state.resource_variable_ops ops.state.ref_variable
    ops.state.partitioned_variable ops.sparse.sparse_ops""".split()]
KINDS = {"int": "int", "float": "float", "bool": "bool", "string": "t.Union[str, bytes]"}
OPERATORS = {f"__{n}__" for n in """
    abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand rdiv rfloordiv rmatmul
    rmod rmul ror rpow rsub rtruediv rxor sub truediv xor""".split()}


def write(folder, path, lines):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w") as f:
        f.write("\n".join(lines) + "\n")


# --- public namespaces


named = set()  # (module, name) of the objects that public names refer to


def imported(name, target):
    """The lines that make `name` what the table's `target` is."""
    module, _, attribute = target.partition(":")
    named.add((full_name(module), attribute.partition(".")[0]))
    if not attribute:
        package, _, last = full_name(module).rpartition(".")
        if last != name:  # only names that stay the same are exported by a stub
            return [f"from {package} import {last} as _{last}", f"{name} = _{last}"]
        return [f"from {package} import {last} as {name}"]
    first = attribute.partition(".")[0]
    if first not in names_in(full_name(module)):  # made while the module loads
        value = getattr(importlib.import_module(full_name(module)), first, None)
        home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if home and own and home.startswith("penstock.") and own in names_in(home):
            return imported(name, f"{home}:{own}")
        if first == attribute and type(value).__module__.startswith("penstock."):
            kind = type(value)
            return [f"from {kind.__module__} import {kind.__name__} as _{kind.__name__}", f"{name}: _{kind.__name__}"]
        return [f"{name}: Any"]
    if name == "__version__":
        return ["__version__: str"]
    if attribute == name:
        return [f"from {full_name(module)} import {name} as {name}"]
    return [f"from {full_name(module)} import {first} as _{first}", f"{name} = _{attribute}"]


@functools.lru_cache(None)
def names_in(module):
    """The names that the text of a module gives at its top level; everything for one that makes its names."""
    if module in ("penstock._src.graph.gen", "penstock._src.graph.raw_ops"):
        return _Everything()
    try:
        spec = importlib.util.find_spec(module)
    except (ModuleNotFoundError, ValueError):
        spec = None
    if spec is None or not str(spec.origin).endswith(".py"):
        return frozenset()
    found = set()
    with open(spec.origin) as f:
        nodes = list(ast.parse(f.read()).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(node, (ast.If, ast.Try)):
            nodes += node.body + node.orelse
    return found


class _Everything:
    def __contains__(self, name):
        return True


def namespaces(version):
    """path -> its rows and children, of a version's tables."""
    tree = {"": ({}, set())}
    for table in lazy.tables(version):
        rows = lazy.read_table(version, table)
        path = "" if table.startswith("_") else table.replace("__", "/")
        for end in [i for i, c in enumerate(path) if c == "/"] + [len(path)] if path else []:
            part = path[:end]
            tree.setdefault(part, ({}, set()))
            parent, _, last = part.rpartition("/")
            tree[parent][1].add(last)
        tree[path][0].update(rows)
    return tree


def write_namespaces(folder, version, root, below):
    """`root`: where the root's file stands, `below` where those of its children stand."""
    for path, (rows, children) in namespaces(version).items():
        here = ".".join(["penstock", *filter(None, [below, path])]).replace("/", ".")
        lines = ["from typing import Any"] + [f"from {here} import {child} as {child}" for child in sorted(children)]
        for name, target in sorted(rows.items()):
            if name not in children and name.isidentifier() and not keyword.iskeyword(name):
                lines += imported(name, target)
        write(folder, os.path.join(below, path, "__init__.pyi") if path else os.path.join(root, "__init__.pyi"), lines)


def write_modules(folder):
    """The modules that public names come from."""
    for module in sorted({home for target in named for home in stub_modules.homes(*target)}):
        lines = stub_modules.stub_of(module) if module.startswith("penstock._src.") else None
        if lines is not None:
            path = module.replace(".", "/")[len("penstock/"):]
            spec = importlib.util.find_spec(module)
            write(folder, path + ("/__init__.pyi" if spec.submodule_search_locations else ".pyi"), lines)


# --- ops


def op_parameters(info, keyword_only):
    inputs = {a.name: a for a in info.inputs}
    parameters = []
    for name, python in info.parameters.items():
        if name in inputs:
            kind = "t.Sequence[t.Any]" if op_signature.is_list(inputs[name]) else "t.Any"
            parameters.append(f"{python}: {kind}")
            continue
        attr = info.attrs[name]
        kind = KINDS.get(attr.kind, "t.Any")
        if attr.is_list and kind != "t.Any":
            kind = f"t.Sequence[{kind}]"
        parameters.append(f"{python}: t.Optional[{kind}] = ..." if attr.has_default else f"{python}: {kind}")
    if keyword_only and parameters:
        parameters.insert(0, "*")
    return ", ".join(parameters + ["name: t.Optional[str] = ..."])


def result_type(info):
    if not info.outputs:
        return "Operation"
    if info.result is not None:
        return info.result.__name__
    return "t.List[Tensor]" if op_signature.is_list(info.outputs[0]) else "Tensor"


def write_ops(folder):
    head = ["import typing as t",
            "from penstock._src.graph.operation import Operation", "from penstock._src.graph.tensor import Tensor"]
    functions, raw = list(head), head + ["from penstock._src.graph import gen as _gen"]
    for op_name in sorted(_core.op_names()):
        if op_name.startswith("_") or ">" in op_name:
            continue
        info = op_signature.op_info(op_name)
        if info.result is not None:
            fields = [f"    {field}: {'t.List[Tensor]' if op_signature.is_list(o) else 'Tensor'}"
                      "  # type: ignore" for field, o in zip(info.result._fields, info.outputs)]
            functions += [f"class {info.result.__name__}(t.NamedTuple):  # type: ignore", *fields]
        name = op_functions._identifier(info.function)
        doc = info.definition.doc.strip().partition("\n")[0].replace("\\", "").replace('"', "'")
        end = [f'    """{doc}"""'] if doc else ["    ..."]
        functions += [f"def {name}({op_parameters(info, False)}) -> {result_type(info)}:", *end]
        if not keyword.iskeyword(op_name):
            kind = result_type(info) if info.result is None else "_gen." + result_type(info)
            raw += [f"def {op_name}({op_parameters(info, True)}) -> {kind}:", *end]
    others = "def __getattr__(name: str) -> t.Any: ...  # ops that are known by name only"
    write(folder, "_src/graph/gen.pyi", functions + [others])
    write(folder, "_src/graph/raw_ops.pyi", raw + [others])


# --- modules as they are found


def parameters_of(function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "*args: Any, **kwargs: Any"
    parts, star = [], False
    for i, p in enumerate(signature.parameters.values()):
        if p.kind is p.VAR_POSITIONAL:
            star = True
            parts.append(f"*{p.name}: Any")
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not star:
                star = True
                parts.append("*")
            kind = "" if i == 0 and p.name in ("self", "cls") else ": Any"
            parts.append(p.name + kind + ("" if p.default is p.empty else " = ..."))
    return ", ".join(parts)


def described_class(kind, tensor):
    if issubclass(kind, enum.Enum):
        return [f"class {kind.__name__}(enum.Enum):"] + [f"    {member.name} = {member.value!r}" for member in kind]
    bases = [b.__name__ for b in kind.__bases__ if b is not object]
    lines = [f"class {kind.__name__}({', '.join(bases)}):" if bases else f"class {kind.__name__}:"]
    for name, member in sorted(vars(kind).items()):
        if name in ("__dict__", "__weakref__", "__module__", "__doc__", "__slots__", "__qualname__", "__getattr__"):
            continue  # __getattr__ would say that there is every attribute
        if isinstance(member, property) or inspect.isdatadescriptor(member):
            lines += ["    @property", f"    def {name}(self) -> Any: ..."]
        elif isinstance(member, (staticmethod, classmethod)):
            lines += [f"    @{type(member).__name__}",
                      f"    def {name}({parameters_of(member.__func__)}) -> Any: ..."]
        elif inspect.isfunction(member) and name in OPERATORS and name not in ("__eq__", "__ne__"):
            parameters = {"__getitem__": "self, key: Any"}.get(name)
            if parameters is None:
                parameters = "self" if name in ("__abs__", "__neg__", "__invert__") else "self, other: Any"
            lines.append(f"    def {name}({parameters}) -> {tensor}: ...")
        elif inspect.isfunction(member):
            lines.append(f"    def {name}({parameters_of(member)}) -> {'None' if name == '__init__' else 'Any'}: ...")
        elif isinstance(member, type):
            lines.append(f"    {name}: Any")
        elif name != "__hash__":
            lines.append(f"    {name}: Any")
    if kind.__name__ == "Tensor":  # further methods of eager tensors
        lines += [f"    def {name}(self) -> {result}: ..." for name, result in (
            ("numpy", "Any"), ("cpu", "Any"), ("gpu", "Any"), ("__float__", "float"), ("__int__", "int"),
            ("__index__", "int"), ("__bool__", "bool")) if name not in vars(kind)]
    return lines if len(lines) > 1 else lines + ["    ..."]


def write_described(folder):
    for name in COMPLETING:
        importlib.import_module(name)
    for name in COMPLETED:
        module = importlib.import_module(name)
        tensor = "Tensor"
        lines = ["import enum", "from typing import Any"]
        if name != "penstock._src.graph.tensor":
            lines.append("from penstock._src.graph.tensor import Tensor as Tensor")
        body = []
        known = set()
        classes = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == name]
        for kind in classes:
            for base in kind.__bases__:
                if base.__module__ not in (name, "builtins") and base.__name__ not in known:
                    known.add(base.__name__)
                    lines.append(f"from {base.__module__} import {base.__name__} as {base.__name__}")
        for key, value in vars(module).items():
            if key.startswith("__") or inspect.ismodule(value):
                continue
            if isinstance(value, type) and value.__module__ == name and value.__name__ == key:
                body += described_class(value, tensor)
            elif inspect.isfunction(value) and value.__module__ == name:
                body.append(f"def {key}({parameters_of(value)}) -> Any: ...")
            elif key not in known and key not in ("Tensor", "Any") and not isinstance(value, type):
                body.append(f"{key}: Any")
            elif isinstance(value, type) and key not in known and key != "Tensor":
                body.append(f"from {value.__module__} import {value.__name__} as {key}")
        body.append("def __getattr__(name: str) -> Any: ...")
        write(folder, name.replace(".", "/")[len("penstock/"):] + ".pyi", lines + body)


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    write_namespaces(folder, "v1", "v1", "v1")
    write_namespaces(folder, "v1", "compat/v1", "compat/v1")
    write_namespaces(folder, "v2", "", "_stubs/v2")
    write(folder, "v2.pyi", ["from penstock import *", "__version__: str"])
    write_modules(folder)
    write_ops(folder)
    write_described(folder)
    write(folder, "py.typed", [])


if __name__ == "__main__":
    main(sys.argv[1])
