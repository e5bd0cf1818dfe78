"""The syntax tree of a function that a program holds."""
import ast
import inspect
import linecache
import textwrap
import types


class NoSourceError(Exception):
    """The source of a function is not there, or does not tell which function it is."""


def parse(function):
    """The FunctionDef or Lambda of a function, with the line numbers of its file. NoSourceError if there is none."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    try:
        lines, first = inspect.getsourcelines(code)  # of itself, whatever it wraps
    except (OSError, TypeError, IndentationError, SyntaxError) as e:
        raise NoSourceError(f"the source of {function} is not available: {e}") from None
    if code.co_name == "<lambda>":
        return _lambda(function, lines, first)
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError as e:
        raise NoSourceError(f"the source of {function} cannot be parsed: {e}") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        raise NoSourceError(f"the source of {function} is no function of that name")
    ast.increment_lineno(node, first - 1)
    return node


def _lambda(function, lines, first):
    """The lambda that made a function: the only one of its parameters in its lines, or that compiles to the same."""
    code, found = function.__code__, []
    for reading in _readings(lines):
        for tree, offset in reading:
            ast.increment_lineno(tree, first - 1 + offset)
            for node in ast.walk(tree):
                if isinstance(node, ast.Lambda) and [a.arg for a in _arguments(node)] == list(
                        code.co_varnames[:code.co_argcount + code.co_kwonlyargcount
                                         + bool(code.co_flags & 4) + bool(code.co_flags & 8)]):
                    found.append(node)
        if found:
            break
    same = found if len(found) == 1 else [n for n in found if _compiles_to(n, function)]
    if len(same) > 1 and len({ast.dump(n) for n in same}) == 1:
        same = same[:1]  # it does not matter which
    if len(same) != 1:
        raise NoSourceError(f"the source of the lambda at line {first} of {code.co_filename} is not clear")
    return same[0]


def _readings(lines):
    """Ways to read a statement or a part of one, as lists of syntax trees: (tree, lines before it)."""
    text = textwrap.dedent("".join(lines))
    stripped = text.strip()
    for candidate in (text, f"({stripped})", f"({stripped.rstrip(',')})", f"f({stripped.rstrip(')').rstrip(',')})",
                      f"({stripped}", f"{stripped})", f"({stripped}))", f"[{stripped}]", f"{{{stripped}}}",
                      "class _:\n " + stripped, f"{stripped}\n    pass", "if 1:\n  " + stripped):
        try:
            yield [(ast.parse(candidate), -1 if candidate.startswith(("class _", "if 1")) else 0)]
        except SyntaxError:
            continue
    parts, at = [], stripped.find("lambda")
    while at >= 0:
        for end in range(len(stripped), at, -1):
            try:
                parts.append((ast.parse(stripped[at:end], mode="eval"), stripped[:at].count("\n")))
                break
            except SyntaxError:
                continue
        at = stripped.find("lambda", at + 6)
    yield parts


def _arguments(node):
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]


def _compiles_to(node, function):
    code, free = function.__code__, [ast.arg(name) for name in function.__code__.co_freevars]
    inner = ast.FunctionDef("outer", ast.arguments([], free, None, [], [], None, []),
                            [ast.Return(ast.Lambda(_without_defaults(node.args), node.body))], [], None)
    # Calls of what a module imports as a whole are compiled in another way than other methods' calls.
    imported = [ast.Import([ast.alias(name)]) for name in code.co_names
                if isinstance(function.__globals__.get(name), types.ModuleType)]
    module = ast.fix_missing_locations(ast.Module([*imported, inner], []))
    outer = next(c for c in compile(module, "<lambda>", "exec").co_consts if hasattr(c, "co_code"))
    made = next(c for c in outer.co_consts if hasattr(c, "co_code"))
    return made.co_code == code.co_code and made.co_names == code.co_names and \
        _plain(made.co_consts) == _plain(code.co_consts)


def _plain(constants):
    return [c for c in constants if not hasattr(c, "co_code")]


def _without_defaults(a):
    return ast.arguments(a.posonlyargs, a.args, a.vararg, a.kwonlyargs, [None] * len(a.kwonlyargs), a.kwarg, [])
