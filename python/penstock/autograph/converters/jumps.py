"""return, break and continue as flags: afterwards control flows through the ends of blocks only."""
import ast

from penstock.autograph.converters import code


def lower(body, namer):
    """The statements of a function's body with one return, at the end.

    What the function gives back stands in a variable; flags say that it has returned, or that a loop is to end. What
    follows a statement that may have set a flag is guarded by it.
    """
    if not _find(body, ast.Return, through_loops=True):
        return _Loops(namer, None).block(body)
    if isinstance(body[-1], ast.Return) and not _find(body[:-1], ast.Return, through_loops=True):
        return _Loops(namer, None).block(body[:-1]) + [body[-1]]
    returns = _Returns(namer.new_symbol("do_return", ()), namer.new_symbol("retval_", ()))
    body = _into_branches(body)
    lowered = _Loops(namer, returns).block(body)
    last = lowered[-1] if lowered else body[-1]
    begin = [code.statement(f"{returns.value} = ag__.UndefinedReturnValue()", body[0])]
    if returns.flag_is_read:
        begin.insert(0, code.statement(f"{returns.flag} = False", body[0]))
    return begin + lowered + [code.statement(f"return ag__.returned({returns.value})", last)]


class _Returns:
    """The names of a function's flag and value."""

    def __init__(self, flag, value):
        self.flag, self.value, self.flag_is_read = flag, value, False


def _find(body, kind, through_loops):
    """The jumps of a kind in some statements, not those of functions within; of loops within only if asked for."""
    found, stack = [], list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            found.append(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.For, ast.While)) and not through_loops:
            stack.extend(node.orelse)
            continue
        stack.extend(child for child in ast.iter_child_nodes(node)
                     if isinstance(child, (ast.stmt, ast.ExceptHandler)))
    return found


def _always_returns(body):
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.With):
        return _always_returns(last.body)
    return False


def _into_branches(body):
    """What follows a conditional of which one branch returns belongs to the other branch."""
    result = []
    for i, node in enumerate(body):
        if isinstance(node, ast.If):
            node.body, node.orelse = _into_branches(node.body), _into_branches(node.orelse)
            rest = body[i + 1:]
            if rest and _always_returns(node.body) and not _always_returns(node.orelse):
                node.orelse = _into_branches(node.orelse + rest)
                return result + [node]
            if rest and _always_returns(node.orelse) and not _always_returns(node.body):
                node.body = _into_branches(node.body + rest)
                return result + [node]
        elif isinstance(node, (ast.With, ast.Try)):
            for part in (node, *getattr(node, "handlers", ())):
                part.body = _into_branches(part.body)
            if isinstance(node, ast.Try):
                node.orelse, node.finalbody = _into_branches(node.orelse), _into_branches(node.finalbody)
        result.append(node)
        if isinstance(node, ast.Return):
            break
    return result


class _Loops:
    """Lowers blocks. breaks, continues: the flags of the loop around the block, or None."""

    def __init__(self, namer, returns, breaks=None, continues=None):
        self._namer, self._returns = namer, returns
        self._breaks, self._continues = breaks, continues

    def block(self, body):
        """The block without jumps."""
        result = []
        for i, node in enumerate(body):
            jumps = self._statement(node, result)
            rest = body[i + 1:]
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                break
            if jumps and rest:
                rest = self.block(rest)
                if rest:
                    test = code.expression(" and ".join(f"not {name}" for name in jumps), rest[0])
                    result.append(code.at(ast.If(test, rest, []), rest[0]))
                break
        return result

    def _statement(self, node, result):
        """Appends a statement, lowered, to `result`; returns the flags that it may set."""
        if isinstance(node, ast.Return):
            value = node.value or code.at(ast.Constant(None), node)
            result.append(code.at(ast.Assign([code.at(ast.Name(self._returns.value, ast.Store()), node)], value), node))
            result.append(code.statement(f"{self._returns.flag} = True", node))
            return [self._returns.flag]
        if isinstance(node, ast.Break):
            result.append(code.statement(f"{self._breaks} = True", node))
            return [self._breaks]
        if isinstance(node, ast.Continue):
            result.append(code.statement(f"{self._continues} = True", node))
            return [self._continues]
        jumps = self._jumps_of(node)
        if isinstance(node, (ast.For, ast.While)):
            self._loop(node, result)
        elif isinstance(node, (ast.If, ast.With, ast.AsyncWith, ast.Try)):
            if isinstance(node, ast.Try) and node.orelse:
                left = self._jumps_of(code.at(ast.With([], node.body), node))
                if left:  # it belongs to the body's end
                    if self._returns is not None and self._returns.flag in left:
                        self._returns.flag_is_read = True
                    test = code.expression(" and ".join(f"not {name}" for name in left), node)
                    node.orelse = [code.at(ast.If(test, node.orelse, []), node)]
            for field in ("body", "orelse", "finalbody"):
                if getattr(node, field, None):
                    setattr(node, field, self.block(getattr(node, field)) or [code.at(ast.Pass(), node)])
            for handler in getattr(node, "handlers", ()):
                handler.body = self.block(handler.body) or [code.at(ast.Pass(), node)]
            result.append(node)
        else:
            result.append(node)
        if self._returns is not None and self._returns.flag in jumps and not _always_returns([node]):
            self._returns.flag_is_read = True
        return jumps if not _always_returns([node]) else []

    def _jumps_of(self, node):
        jumps = []
        if self._returns is not None and _find([node], ast.Return, True):
            jumps.append(self._returns.flag)
        if not isinstance(node, (ast.For, ast.While)):
            if self._breaks is not None and _find([node], ast.Break, False):
                jumps.append(self._breaks)
            if self._continues is not None and _find([node], ast.Continue, False):
                jumps.append(self._continues)
        return jumps

    def _loop(self, node, result):
        breaks = continues = None
        stops = []
        if _find(node.body, ast.Break, False):
            breaks = self._namer.new_symbol("break_", ())
            result.append(code.statement(f"{breaks} = False", node))
            stops.append(breaks)
        if _find(node.body, ast.Continue, False):
            continues = self._namer.new_symbol("continue_", ())
        if self._returns is not None and _find(node.body, ast.Return, True):
            stops.append(self._returns.flag)
            self._returns.flag_is_read = True
        orelse = node.orelse
        body = _Loops(self._namer, self._returns, breaks, continues).block(node.body)
        if continues is not None:
            body.insert(0, code.statement(f"{continues} = False", node))
        node.body, node.orelse = body or [code.at(ast.Pass(), node)], []
        node.stops = stops
        result.append(node)
        if orelse:
            orelse = self.block(orelse)
            if stops:
                test = code.expression(" and ".join(f"not {name}" for name in stops), node)
                orelse = [code.at(ast.If(test, orelse, []), node)]
            result.extend(orelse)
