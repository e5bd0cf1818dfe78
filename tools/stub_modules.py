"""The .pyi of a module from its source: signatures without bodies, so that type checkers do not guess types of
parameters from their defaults and of results from code. Parameters and results without an annotation are Any."""
import ast
import functools
import importlib.util

_DECORATORS = ("property", "staticmethod", "classmethod", "cached_property", "abstractmethod")
_NO_SELF = "self"


@functools.lru_cache(None)
def _parsed(module):
    try:
        spec = importlib.util.find_spec(module)
    except (ModuleNotFoundError, ValueError):
        return None
    if spec is None or not str(spec.origin).endswith(".py"):
        return None
    with open(spec.origin, encoding="utf-8") as f:
        return ast.parse(f.read())


def homes(module, attribute):
    """The modules that a name passes through until that which defines it, `module` first."""
    found = [module]
    while True:
        tree = _parsed(found[-1])
        source = next((f"{node.module}" for node in (tree.body if tree else ()) if isinstance(node, ast.ImportFrom)
                       and any((alias.asname or alias.name) == attribute for alias in node.names)), None)
        if source is None or source in found:
            return found
        found.append(source)


def stub_of(module):
    """The lines of a module's stub, or None if it has no source or makes its names while it loads."""
    tree = _parsed(module)
    if tree is None:
        return None
    lines = ["# mypy: ignore-errors", "import typing as _t"]  # methods differ from those that they override
    _block(tree.body, "", lines, set())
    lines.append("def __getattr__(name: str) -> _t.Any: ...")
    return lines


def _block(body, indent, lines, known):
    """Appends the lines of a module's or class's statements; of several with one name the first counts."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not indent:
            if getattr(node, "module", "") != "__future__":
                lines += _imports(node)
                known.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kept = [d for d in map(ast.unparse, node.decorator_list)
                    if d.rpartition(".")[2] in _DECORATORS or d.endswith((".setter", ".deleter"))] if indent else []
            if node.name in known and not any(d.endswith((".setter", ".deleter")) for d in kept):
                continue
            known.add(node.name)
            lines += [f"{indent}@{each.replace('abc.', '') if each != 'abc.abstractmethod' else 'property'}"
                      for each in kept if not each.endswith("abstractmethod")]
            lines.append(f"{indent}{_signature(node)}")
        elif isinstance(node, ast.ClassDef) and node.name not in known:
            known.add(node.name)
            _class(node, indent, lines)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            _assignment(node, indent, lines, known)
        elif isinstance(node, ast.If):
            _block(node.body + node.orelse, indent, lines, known)
        elif isinstance(node, ast.Try):
            _block(node.body, indent, lines, known)
        elif isinstance(node, (ast.With, ast.For)):
            _block(node.body, indent, lines, known)


def _imports(node):
    """An import whose names the stub exports: those that stay the same do so, others get a line."""
    lines = []
    for alias in node.names:
        name = alias.asname or alias.name
        start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
        if name == alias.name and "." not in name:
            lines.append(f"{start}import {name} as {name}" if name != "*" else f"{start}import *")
        elif "." in name:
            lines.append(f"import {name}")
        else:
            lines += [f"{start}import {alias.name} as _as_{name}", f"{name} = _as_{name}"]
    return lines


def _signature(node):
    arguments = node.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = None
    defaults = [ast.Constant(...)] * len(arguments.defaults)
    names = arguments.posonlyargs + arguments.args
    for each, default in zip(names[len(names) - len(defaults):], arguments.defaults):
        if each.arg == "name" and isinstance(default, ast.Constant) and default.value is None:
            each.annotation = ast.parse("_t.Optional[str]", mode="eval").body
    arguments.defaults = defaults
    arguments.kw_defaults = [None if default is None else ast.Constant(...) for default in arguments.kw_defaults]
    result = "None" if node.name == "__init__" else "_t.Any"
    return f"def {node.name}({ast.unparse(arguments)}) -> {result}: ..."


def _class(node, indent, lines):
    bases = [text for text in map(ast.unparse, node.bases)
             if isinstance(ast.parse(text, mode="eval").body, (ast.Name, ast.Attribute)) or "namedtuple" in text]
    if len(bases) < len(node.bases):
        bases = ["_t.Any"]
    meta = [f"metaclass={ast.unparse(k.value)}" for k in node.keywords
            if k.arg == "metaclass" and ast.unparse(k.value).endswith("ABCMeta")] if bases != ["_t.Any"] else []
    inside: list = []
    known: set = set()
    _block(node.body, indent + "    ", inside, known)
    for name in sorted(_attributes(node) - known):
        inside.append(f"{indent}    {name}: _t.Any")
    lines.append(f"{indent}class {node.name}{'(' + ', '.join(bases + meta) + ')' if bases or meta else ''}:")
    lines += inside or [f"{indent}    ..."]


def _attributes(node):
    """The names that a class's methods assign to `self`, but for private ones."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name) \
                and each.value.id == _NO_SELF and not each.attr.startswith("_"):
            found.add(each.attr)
    return found


def _assignment(node, indent, lines, known):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for each in ast.walk(target):
            if not isinstance(each, ast.Name) or each.id in known:
                continue
            known.add(each.id)
            value = node.value
            text = ast.unparse(value) if value is not None else ""
            alias = isinstance(value, (ast.Name, ast.Attribute)) and text.partition(".")[0] in known
            literal = isinstance(value, ast.Constant) and indent
            if target is each and (alias or "namedtuple" in text.partition("(")[0] or literal):
                lines.append(f"{indent}{each.id} = {text}")
            else:
                lines.append(f"{indent}{each.id}: _t.Any")
