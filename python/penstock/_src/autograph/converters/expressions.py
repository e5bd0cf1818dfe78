"""Calls, logic, comparisons, ternaries and assertions as calls of operators that know tensors."""
import ast

from penstock._src.autograph.converters import code

# Called as they are: they look at the frame that calls them, or are Python's own.
_UNCONVERTED = frozenset(("locals", "globals", "eval", "exec", "vars", "dir", "super", "breakpoint", "__import__"))


def _has_walrus(node):
    return any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _later(node):
    """A lambda that gives the value of an expression."""
    arguments = ast.arguments([], [], None, [], [], None, [])
    return code.at(ast.Lambda(arguments, node), node)


class Expressions(ast.NodeTransformer):
    """The conversion. first_argument: of the function, for super() without arguments. class_name: for names that
    begin with two underscores."""

    def __init__(self, first_argument=None, class_name=None):
        self._first_argument = first_argument
        self._class_name = class_name

    def _call(self, function, args, old, keywords=()):
        target = code.expression(f"ag__.{function}", old)
        return code.at(ast.Call(target, args, list(keywords)), old)

    def _mangled(self, name):
        if self._class_name and name.startswith("__") and not name.endswith("__"):
            return f"_{self._class_name}{name}"
        return name

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    def visit_Name(self, node):
        node.id = self._mangled(node.id)
        return node

    def visit_BoolOp(self, node):
        node = self.generic_visit(node)
        if _has_walrus(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = self._call(name, [_later(value), _later(result)], node)
        return result

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        return self._call("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        node = self.generic_visit(node)
        operands = [node.left, *node.comparators]
        if len(node.ops) == 1:
            return self._comparison(node.ops[0], operands[0], operands[1], node)
        if not all(isinstance(x, (ast.Name, ast.Constant)) for x in operands[1:-1]):
            return node if _has_walrus(node) else self._chain(node.left, node.ops, node.comparators, node)
        parts = [self._comparison(op, operands[i], operands[i + 1], node) for i, op in enumerate(node.ops)]
        result = parts[-1]
        for part in reversed(parts[:-1]):
            result = self._call("and_", [_later(part), _later(result)], node)
        return result

    def _chain(self, left, ops, operands, old):
        """A chain of comparisons that computes each operand once: a function of the first two."""
        first = self._comparison(ops[0], code.expression("ag__left", old), code.expression("ag__right", old), old)
        if len(ops) > 1:
            rest = self._chain(code.expression("ag__right", old), ops[1:], operands[1:], old)
            first = self._call("and_", [_later(first), _later(rest)], old)
        made = code.expression("(lambda ag__left, ag__right: _)", old)
        made.body = first
        return code.at(ast.Call(made, [left, operands[0]], []), old)

    def _comparison(self, op, left, right, old):
        if isinstance(op, ast.Eq):
            return self._call("eq", [left, right], old)
        if isinstance(op, ast.NotEq):
            return self._call("not_eq", [left, right], old)
        return code.at(ast.Compare(left, [op], [right]), old)

    def visit_IfExp(self, node):
        text = code.text_of(node.test)
        node = self.generic_visit(node)
        if _has_walrus(node):
            return node
        return self._call("if_exp", [node.test, _later(node.body), _later(node.orelse),
                                     code.at(ast.Constant(text), node)], node)

    def visit_Assert(self, node):
        node = self.generic_visit(node)
        message = node.msg or code.at(ast.Constant(code.text_of(node.test)), node)
        call = self._call("assert_stmt", [node.test, _later(message)], node)
        return code.at(ast.Expr(call), node)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args and self._first_argument:
            return code.expression(f"super(__class__, {self._first_argument})", node)
        if isinstance(function, ast.Name) and function.id in _UNCONVERTED:
            return self.generic_visit(node)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) \
                and function.value.id in ("ag__", "pdb"):
            return self.generic_visit(node)
        node = self.generic_visit(node)
        args = code.at(ast.Tuple(node.args, ast.Load()), node)
        keywords = code.at(ast.Constant(None), node)
        if node.keywords:
            keywords = code.at(ast.Call(code.expression("dict", node), [], node.keywords), node)
        return self._call("converted_call", [node.func, args, keywords], node)

    def visit_Lambda(self, node):
        node = self.generic_visit(node)
        return self._call("autograph_artifact", [node], node)

    def visit_FunctionDef(self, node):
        return self.generic_visit(node)

    def visit_ClassDef(self, node):
        return node  # a class of its own, with methods that are converted when they are called

    def visit_AnnAssign(self, node):
        if node.value is None:
            return node
        return self.visit(code.at(ast.Assign([node.target], node.value), node)) if node.simple else node


class Elements(ast.NodeTransformer):
    """x[i] = y and del x of a local variable as assignments to x. Comes before the control flow, whose state x then
    is."""

    def __init__(self, local):
        self._local = local

    def visit_Assign(self, node):
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Subscript):
            return node
        target = node.targets[0]
        if not isinstance(target.value, ast.Name) or target.value.id not in self._local \
                or any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(target.slice)):
            return node
        name = target.value.id
        call = code.at(ast.Call(code.expression("ag__.set_item", node), [
            code.expression(name, node), target.slice, node.value], []), node)
        return code.at(ast.Assign([code.at(ast.Name(name, ast.Store()), node)], call), node)

    def visit_Delete(self, node):
        names = [t for t in node.targets if isinstance(t, ast.Name) and t.id in self._local]
        rest = [t for t in node.targets if t not in names]
        made = [code.statement(f"{t.id} = ag__.Undefined({t.id!r})", node) for t in names]
        return made + ([code.at(ast.Delete(rest), node)] if rest else [])

    def visit_FunctionDef(self, node):
        return node  # has its own

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef
