"""A function's converted twin: the same closure, globals, defaults and lines, with control flow that knows tensors."""
import ast
import functools
import types

from penstock._src.autograph.converters import code
from penstock._src.autograph.converters import control_flow
from penstock._src.autograph.converters import expressions
from penstock._src.autograph.converters import jumps
from penstock._src.autograph.converters.names import Names, all_names
from penstock._src.autograph.pyct import cache
from penstock._src.autograph.pyct import errors
from penstock._src.autograph.pyct import naming
from penstock._src.autograph.pyct import sources
from penstock._src.base import locks

_lock = locks.lock()
_converted = cache.CodeObjectCache()  # under "code": the converted code, or why there is none


class UnsupportedError(Exception):
    """The function uses what cannot be converted."""


def _check(node):
    stack = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    while stack:
        part = stack.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            raise UnsupportedError("generators are not supported")
        if isinstance(part, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            raise UnsupportedError("coroutines are not supported")
        if isinstance(part, (ast.Match if hasattr(ast, "Match") else ())):
            raise UnsupportedError("match statements are not supported")
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(part))


class _Nested(ast.NodeTransformer):
    """Converts the functions within a function."""

    def __init__(self, namer):
        self._namer = namer

    def visit_FunctionDef(self, node):
        try:
            _check(node)
        except UnsupportedError:
            return node
        _convert_body(node, self._namer)
        node.decorator_list.append(code.expression("ag__.autograph_artifact", node))
        return node

    def visit_ClassDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef


def _parameters(node):
    a = node.args
    return [x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if x is not None]


def _own_globals(body):
    found, stack = set(), list(body)
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Global):
            found.update(part.names)
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(part))
    return found


def _convert_body(node, namer):
    """Converts the control flow of a FunctionDef in place."""
    nested = _Nested(namer)
    body = [nested.visit(statement) for statement in node.body]
    documentation = []
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) \
            and isinstance(body[0].value.value, str):
        documentation, body = body[:1], body[1:]
    if not body:
        return
    names = Names(body)
    local = (set(names.written) | set(_parameters(node))) - names.declared
    body = expressions.Elements(local).visit(ast.Module(body, [])).body
    body = jumps.lower(body, namer)
    flow = control_flow.ControlFlow(body, namer, _own_globals(body), local)
    first = body[0]
    body = flow.block(body)
    parameters = set(_parameters(node))
    begin = [code.statement(f"{name} = ag__.Undefined({name!r})", first)
             for name in flow.state if name not in parameters]
    declarations = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
    node.body = documentation + declarations + begin + [s for s in body if s not in declarations]


def convert_tree(node, name, qualified_name):
    """The converted FunctionDef of a FunctionDef or a Lambda."""
    _check(node)
    namer = naming.Namer(all_names(node) | {"ag__"})
    if isinstance(node, ast.Lambda):
        function = ast.FunctionDef(name, node.args, [code.at(ast.Return(node.body), node.body)], [], None)
        function = code.at(function, node)
    else:
        function = node
    _convert_body(function, namer)
    owner = qualified_name.split(".")[-2] if "." in qualified_name else None
    class_name = owner.lstrip("_") if owner and owner != "<locals>" else None
    first = function.args.posonlyargs + function.args.args
    convert = expressions.Expressions(first[0].arg if first else None, class_name)
    function.body = [convert.visit(statement) for statement in function.body]
    function.decorator_list, function.returns = [], None
    a = function.args
    a.defaults = [ast.Constant(None) for _ in a.defaults]
    a.kw_defaults = [None if d is None else ast.Constant(None) for d in a.kw_defaults]
    for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
        if x is not None:
            x.annotation = None
    if class_name:
        for x in [*a.posonlyargs, *a.args, *a.kwonlyargs]:
            x.arg = convert._mangled(x.arg)
    return function


def _compile(function):
    """The converted code of a function, with ag__ among its free variables."""
    original = function.__code__
    tree = sources.tree_of(function)
    name = "lambda_" if isinstance(tree, ast.Lambda) else tree.name
    made = convert_tree(tree, name, function.__qualname__)
    free = ["ag__", *original.co_freevars]
    # Uses each free variable, so that all are in the closure.
    keep = code.statement(f"def keep():\n    return ({', '.join(free)},)", made.body[0])
    made.body.insert(1 if ast.get_docstring(made, clean=False) is not None else 0, keep)
    arguments = ast.arguments([], [ast.arg(x) for x in free], None, [], [], None, [])
    # A function that calls itself finds itself where it did before: not in what is around it here.
    scope = [] if name in free else [ast.Global([name])]
    outer = ast.FunctionDef("outer", arguments, [*scope, made], [], None)
    module = ast.fix_missing_locations(ast.Module([code.at(outer, made)], []))
    flags = original.co_flags & 0x1ff0000  # from __future__
    compiled = compile(module, original.co_filename, "exec", flags=flags, dont_inherit=True)
    enclosing = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    made = next(c for c in enclosing.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return _named(made, original.co_name)


def _named(made, name):
    """Code whose parts, such as bodies of loops, bear the name of their function, which tracebacks then show."""
    constants = tuple(
        _named(c, name if control_flow.PART.fullmatch(c.co_name) else c.co_name) if isinstance(c, types.CodeType) else c
        for c in made.co_consts)
    return made.replace(co_name=name, co_consts=constants)


def converted_code(function):
    """The converted code object. UnsupportedError, errors.PyCTError: there is none."""
    with _lock:
        kept = _converted[function]
        found = kept.get("code")
        if found is None:
            try:
                found = _compile(function)
            except (UnsupportedError, errors.PyCTError) as e:
                found = e
            except (SyntaxError, ValueError, RecursionError) as e:  # what the conversion made is no program
                found = UnsupportedError(f"{type(e).__name__}: {e}")
            kept["code"] = found
    if isinstance(found, Exception):
        raise found
    return found


def _cell(value):
    return types.CellType(value)


@functools.lru_cache(maxsize=1)
def _operators():
    from penstock._src.autograph.impl import generated
    return _cell(generated)


def convert_function(function):
    """The converted twin of a Python function. UnsupportedError, errors.PyCTError: it has none."""
    found = converted_code(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["ag__"] = _operators()
    twin = types.FunctionType(found, function.__globals__, function.__name__, function.__defaults__,
                              tuple(cells[name] for name in found.co_freevars))
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    twin.__dict__.update(function.__dict__)
    twin.__dict__.pop("__wrapped__", None)
    twin.ag_module = None
    return twin
