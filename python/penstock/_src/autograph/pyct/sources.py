"""The code of functions that a program holds: their lines, and their part of the file's syntax tree.

Trees are Python's own (`ast`), in the lines and columns of the file; `parser` makes gast's of them. So what tf.function
converts needs no gast.
"""
import ast
import inspect
import linecache
import types

from penstock._src.autograph.pyct import errors


def islambda(function):
    """Whether a function is a lambda, under whatever name."""
    return inspect.isfunction(function) and "<lambda>" in (function.__name__, function.__code__.co_name)


def lines_of(entity):
    """(all lines of the file, the number of the entity's first, from 0): of itself, whatever it wraps.

    errors.InaccessibleSourceCodeError if they are not there.
    """
    try:
        linecache.checkcache(inspect.getfile(entity))
        return inspect.findsource(getattr(entity, "__code__", entity))
    except (OSError, TypeError, IndexError) as e:
        raise errors.InaccessibleSourceCodeError(f"the source of {entity} is not available: {e}") from None


def tree_of(function):
    """The FunctionDef or Lambda of a function.

    errors.InaccessibleSourceCodeError if its source is not there, errors.UnsupportedLanguageElementError if that does
    not tell which function it is.
    """
    if function.__code__.co_name == "<lambda>":
        return lambda_of(function)[0]
    lines, first = lines_of(function)
    try:
        node = _read(inspect.getblock(lines[first:]), first)[0]
    except (SyntaxError, IndexError) as e:
        raise errors.InaccessibleSourceCodeError(f"the source of {function} cannot be parsed: {e}") from None
    if not isinstance(node, ast.FunctionDef) or node.name != function.__code__.co_name:
        raise errors.InaccessibleSourceCodeError(f"the source of {function} is no function of that name")
    return node


def _read(lines, first):
    """The statements of some lines, which may be indented, of which the first has the number `first` in its file."""
    indented = lines[0][:1].isspace()
    tree = ast.parse("if 1:\n" + "".join(lines) if indented else "".join(lines))
    ast.increment_lineno(tree, first - indented)
    return tree.body[0].body if indented else tree.body


def lambda_of(function):
    """(the Lambda of a function, the lines of its file). Errors as those of tree_of.

    It is the one at its line with its parameters; of several, the one that compiles to the same.
    """
    lines, _ = lines_of(function)
    code = function.__code__
    parameters = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount
                                       + bool(code.co_flags & 4) + bool(code.co_flags & 8)])
    found = []
    for part, first in _around(lines, code.co_firstlineno - 1):
        try:
            statements = _read(part, first)
        except SyntaxError:
            continue
        found = [n for s in statements for n in ast.walk(s) if isinstance(n, ast.Lambda)
                 and n.lineno == code.co_firstlineno and [a.arg for a in _arguments(n)] == parameters]
        same = [n for n in found if _compiles_to(n, function)]
        if same and len({ast.dump(n) for n in same}) == 1:
            return same[0], lines  # it does not matter which
    if len(found) == 1:
        return found[0], lines
    shown = "".join(f"\n{ast.unparse(n)}" for n in found)
    raise errors.UnsupportedLanguageElementError(
        f"could not parse the source code of {function}: at line {code.co_firstlineno} of {code.co_filename} there are "
        f"{'multiple definitions with identical signatures' if found else 'none of its parameters'}{shown}")


def _around(lines, at):
    """Ever larger parts of a file that a line is in and that may be whole statements; then the file: (lines, first)."""
    def depth(i):
        return len(lines[i]) - len(lines[i].lstrip())

    least = None
    for first in range(at, -1, -1):
        if not lines[first].strip() or least is not None and depth(first) >= least:
            continue
        least, end = depth(first), at + 1
        while end < len(lines) and (not lines[end].strip() or depth(end) > least or lines[end].lstrip()[0] in ")]}#"):
            end += 1
        yield lines[first:end], first
        if least == 0:
            break
    yield lines, 0


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
    return _same(made, code)


def _same(made, code):
    """Whether two code objects, or constants, are the same but for names and places of the code."""
    if not hasattr(made, "co_code") or not hasattr(code, "co_code"):
        return type(made) is type(code) and made == code
    return made.co_code == code.co_code and made.co_names == code.co_names and \
        len(made.co_consts) == len(code.co_consts) and all(map(_same, made.co_consts, code.co_consts))


def _without_defaults(a):
    return ast.arguments(a.posonlyargs, a.args, a.vararg, a.kwonlyargs, [None] * len(a.kwonlyargs), a.kwarg, [])
