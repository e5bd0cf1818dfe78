"""penstock check: reads programs without running them, and lists what will fail and what to write instead."""
import argparse
import ast
import difflib
import importlib.util
import os
import re
import sys
from typing import Any, Iterator

from penstock.alias import choice, finder, known, missing, old_names, program
from penstock.api import lazy

# Python 2, line by line where a file cannot be parsed: pattern -> advice.
_SYNTAX = [(re.compile(pattern), advice) for pattern, advice in (
    (r"^\s*print\s+[^(=\s]|^\s*print\s*$|^\s*print\s*>>", "print is a function: print(...)"),
    (r"^\s*except\s+[\w.(),\s]+,\s*\w+\s*:", "write `except Error as e:`"),
    (r"^\s*raise\s+\w+\s*,", "write `raise Error(message)`"),
    (r"^\s*exec\s+[^(\s]", "exec is a function: exec(...)"),
    (r"<>", "write !="),
    (r"\b0[0-7]+\b(?!\.)", "octal numbers begin with 0o"),
    (r"\b\d+L\b", "there is no L behind long integers"),
    (r"`[^`]+`", "write repr(...)"),
    (r"\bur(?=\s)", "strings are Unicode without a mark"))]
_COMPAT = "; `penstock run --compat` puts it back"


def main(arguments):
    """The command line; the exit status: 1 if anything was found."""
    parser = argparse.ArgumentParser(
        prog="penstock check", description="Reads a program, with the modules of its folder that it imports, or all "
        "Python files of a folder, without running them, and lists what will fail and what to write instead.")
    parser.add_argument("program", metavar="PROGRAM|FOLDER")
    version = parser.add_mutually_exclusive_group()
    version.add_argument("--v1", dest="version", action="store_const", const="v1", help="as TensorFlow 1.15")
    version.add_argument("--v2", dest="version", action="store_const", const="v2", help="as TensorFlow 2")
    options = parser.parse_args(arguments)
    try:
        sources = _sources(options.program)
    except OSError as error:
        print(f"penstock check: {error}", file=sys.stderr)
        return 2
    uses = [use for source in sources for use in source.uses]
    chosen, why = (options.version, "as the option says") if options.version else choice.told(
        uses, options.program if os.path.isdir(options.program) else os.path.dirname(options.program) or os.curdir,
        options.program)
    print(f"{options.program} is of TensorFlow {finder.VERSIONS[chosen]} ({why})")
    count = files = 0
    for source in sources:
        found = sorted(set(findings(source, chosen)))
        for line, text in found:
            print(f"{_short(source.path)}:{line}: {text}")
        count += len(found)
        files += bool(found)
    print(f"{count or 'no'} finding{'s' * (count != 1)} in {files} of {len(sources)} file{'s' * (len(sources) != 1)}")
    return int(count > 0)


def _short(path):
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir) else near


def _sources(path):
    if not os.path.isdir(path):
        with open(path, "rb") as f:
            first = program.Source(f.read(), path)
        return program.read(first, os.path.dirname(path) or os.curdir)
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for file in sorted(files):
            if file.endswith(".py"):
                with open(os.path.join(folder, file), "rb") as f:
                    found.append(program.Source(f.read(), os.path.join(folder, file)))
    return found


def findings(source, version) -> Iterator[tuple[int, str]]:
    """(line, text) of what will fail in one source file with TensorFlow's version "v1" or "v2"."""
    if source.tree is None:
        yield from _syntax(source)
    else:
        yield from _old_names(source)
    for use in source.uses:
        if not use.guarded:
            text = lacking(use.name, version)
            if text:
                yield use.line, text


def _syntax(source):
    found = False
    for number, line in enumerate(program.without_comments(source.text, strings=False).split("\n"), 1):
        for pattern, advice in _SYNTAX:
            if pattern.search(line):
                found = True
                yield number, f"Python 2: {advice}"
    if not found:
        yield getattr(source.error, "lineno", None) or 1, f"no Python of today: {source.error}"


def lacking(name, version):
    """The sentence about a name of TensorFlow that is not here, or None."""
    if name.startswith("."):
        if version == "v2":
            return f"{name} is TensorFlow 1: loop over the dataset, or call tf.compat.v1.data{name}"
        return None
    if name.split(".")[0] in ("python", "core", "contrib", "examples"):
        return _lacking_module(name, version)
    have = known.versions(name)[0]
    if served(name, version) and (not have or version[1:] in have):
        return None
    return _said(name, version)


def _said(name, version):
    reason = missing.reason(name, version[1:])
    return f"there is no tf.{name}{': ' * reason.startswith('did') or '; ' * bool(reason)}{reason}" \
        if not reason.startswith(("tf.", "TensorFlow")) else reason


def served(name, version):
    """Whether a name below the module is one of the public names, or an attribute of one."""
    namespace: Any = importlib.import_module(f"penstock.{version}")
    for part in name.split("."):
        if not isinstance(namespace, lazy.Namespace):
            return True
        inside = lazy.names_so_far(namespace)
        if part not in inside and part not in namespace._load():
            return part.startswith("_")
        namespace = inside.get(part)
    return True


def _lacking_module(name, version):
    """The same of a module inside TensorFlow, or of a name in one."""
    find, parts = finder._Finder(version).find_spec, name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            spec: Any = find("tensorflow." + ".".join(parts[:end]))
            if end == len(parts) or parts[end].startswith("_") or hasattr(spec.loader._find(), parts[end]):
                return None
            break
        except ModuleNotFoundError:
            pass
    return _said(name, version)


def _old_names(source):
    """Names that Python, NumPy and SciPy no longer have."""
    import numpy
    bound, own = {}, _names_defined(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                bound[item.asname or item.name.split(".")[0]] = item.name if item.asname else item.name.split(".")[0]
                yield from _module(item.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from _module(node.module, node.lineno)
            for item in node.names:
                bound[item.asname or item.name] = f"{node.module}.{item.name}"
                yield from _attribute(numpy, f"{node.module}.{item.name}", node.lineno)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            if node.attr in old_names.METHODS:
                yield node.lineno, f"Python 2: .{node.attr} is {old_names.METHODS[node.attr]} now"
            name = _dotted(node, bound)
            if name:
                yield from _attribute(numpy, name, node.lineno)
        elif isinstance(node, ast.Name) and node.id in old_names.BUILTINS and node.id not in {*own, *bound}:
            yield node.lineno, f"Python 2: {node.id} is {old_names.BUILTINS[node.id]} now{_COMPAT}"


def _names_defined(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} | {
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
        node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _dotted(node, bound):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in bound:
        return ".".join([bound[node.id], *reversed(parts)])
    return None


def _module(name, line):
    if name in old_names.MODULES and importlib.util.find_spec(name) is None:
        yield line, f"Python 2: the module {name} is {old_names.MODULES[name]} now{_COMPAT}"


def _attribute(numpy, name, line):
    """The finding of one dotted name of a module."""
    first, _, rest = name.partition(".")
    if first == "numpy" and rest:
        attribute = rest.split(".")[0]
        if attribute in old_names.NUMPY and not hasattr(numpy, attribute):
            now = old_names.NUMPY[attribute] if attribute != "asscalar" else "ndarray.item"
            where = "" if now in ("float", "int", "bool", "object", "str", "complex") or now[0] in "-0" else "np."
            yield line, f"NumPy has no np.{attribute} any more: write {where}{now}{_COMPAT}"
        elif not hasattr(numpy, attribute) and importlib.util.find_spec("numpy." + attribute) is None:
            near = difflib.get_close_matches(attribute, dir(numpy), 1)
            yield line, f"NumPy has no np.{attribute}{f': did you mean np.{near[0]}?' if near else ''}"
    elif first == "scipy" and rest in old_names.SCIPY:
        yield line, f"SciPy has no scipy.{rest} any more: use {old_names.SCIPY[rest]}{_COMPAT}"
    elif name in old_names.ATTRIBUTES and old_names.is_gone(name):
        yield line, f"Python has no {name} any more: write {old_names.ATTRIBUTES[name]}{_COMPAT}"
