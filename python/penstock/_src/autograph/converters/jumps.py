"""return, break and continue as flags: afterwards control flows through the ends of blocks only.

Works on Python's own trees and on gast's, whose nodes have the same names.
"""
import ast

from penstock._src.autograph.converters import code

ALL = ("Return", "Break", "Continue")
_LOOPS = ("For", "While")
# In which no jumps of the function are looked for.
_WITHOUT_STATEMENTS = frozenset((
    *ALL, "FunctionDef", "AsyncFunctionDef", "ClassDef", "Assign", "AugAssign", "AnnAssign", "Expr", "Assert", "Delete",
    "Import", "ImportFrom", "Global", "Nonlocal", "Pass"))


def _is(node, *kinds):
    return type(node).__name__ in kinds


def lower(body, namer, kinds=ALL, default=True):
    """The statements of a function's body with one return, at the end, and without jumps of the kinds.

    What the function gives back stands in a variable; flags say that it has returned, or that a loop is to end. What
    follows a statement that may have set a flag is guarded by it. Loops have the flags that end them as their `stops`.
    default: a function that comes to its end gives None, though it returns elsewhere.
    """
    loops = tuple(kind for kind in kinds if kind != "Return")
    if "Return" not in kinds or not _find(body, "Return", through_loops=True):
        return _Loops(namer, None, loops).block(body)
    if _is(body[-1], "Return") and not _find(body[:-1], "Return", through_loops=True):
        return _Loops(namer, None, loops).block(body[:-1]) + [body[-1]]
    returns = _Returns(namer.new_symbol("do_return", ()), namer.new_symbol("retval_", ()))
    body = _into_branches(body)
    lowered = _Loops(namer, returns, loops).block(body)
    last = lowered[-1] if lowered else body[-1]
    begin = [code.statement(f"{returns.flag} = False", body[0])] if returns.flag_is_read else []
    if not default:
        return begin + lowered + [code.statement(f"return {returns.value}", last)]
    begin.append(code.statement(f"{returns.value} = ag__.UndefinedReturnValue()", body[0]))
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
        name = type(node).__name__
        if name == kind:
            found.append(node)
        if name in _WITHOUT_STATEMENTS:
            continue
        if not through_loops and name in _LOOPS:
            stack.extend(node.orelse)
            continue
        stack.extend(child for child in ast.iter_child_nodes(node)
                     if isinstance(child, (ast.stmt, ast.excepthandler)))
    return found


def _always_returns(body):
    if not body:
        return False
    last = body[-1]
    if _is(last, "Return", "Raise"):
        return True
    if _is(last, "If"):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if _is(last, "With"):
        return _always_returns(last.body)
    return False


def _into_branches(body):
    """What follows a conditional of which one branch returns belongs to the other branch."""
    result = []
    for i, node in enumerate(body):
        if _is(node, "If"):
            node.body, node.orelse = _into_branches(node.body), _into_branches(node.orelse)
            rest = body[i + 1:]
            if rest and _always_returns(node.body) and not _always_returns(node.orelse):
                node.orelse = _into_branches(node.orelse + rest)
                return result + [node]
            if rest and _always_returns(node.orelse) and not _always_returns(node.body):
                node.body = _into_branches(node.body + rest)
                return result + [node]
        elif _is(node, "With", "Try"):
            for part in (node, *getattr(node, "handlers", ())):
                part.body = _into_branches(part.body)
            if _is(node, "Try"):
                node.orelse, node.finalbody = _into_branches(node.orelse), _into_branches(node.finalbody)
        result.append(node)
        if _is(node, "Return"):
            break
    return result


def none_of(flags):
    """The text of a test that no flag is set."""
    return " and ".join(f"not {name}" for name in flags)


def _guarded(flags, body):
    """The statements, if no flag is set."""
    made = code.statement(f"if {none_of(flags)}:\n    pass", body[0])
    made.body = body
    return made


class _Loops:
    """Lowers blocks. kinds: of the jumps of loops. breaks, continues: the flags of the loop around, or None."""

    def __init__(self, namer, returns, kinds, breaks=None, continues=None):
        self._namer, self._returns, self._kinds = namer, returns, kinds
        self._breaks, self._continues = breaks, continues

    def block(self, body):
        """The block without jumps."""
        result = []
        for i, node in enumerate(body):
            jumps = self._statement(node, result)
            rest = body[i + 1:]
            if _is(node, *ALL):
                break
            if jumps and rest:
                rest = self.block(rest)
                if rest:
                    result.append(_guarded(jumps, rest))
                break
        return result

    def _statement(self, node, result):
        """Appends a statement, lowered, to `result`; returns the flags that it may set."""
        if _is(node, "Return") and self._returns is not None:
            made = code.statement(f"{self._returns.value} = None", node)
            made.value = node.value or made.value
            result.extend([made, code.statement(f"{self._returns.flag} = True", node)])
            return [self._returns.flag]
        if _is(node, "Break", "Continue"):
            flag = self._breaks if _is(node, "Break") else self._continues
            result.append(node if flag is None else code.statement(f"{flag} = True", node))
            return [] if flag is None else [flag]
        jumps = self._jumps_of([node])
        if _is(node, *_LOOPS):
            self._loop(node, result)
        elif _is(node, "If", "With", "AsyncWith", "Try"):
            if _is(node, "Try") and node.orelse:
                left = self._jumps_of(node.body)
                if left:  # it belongs to the body's end
                    if self._returns is not None and self._returns.flag in left:
                        self._returns.flag_is_read = True
                    node.orelse = [_guarded(left, node.orelse)]
            for field in ("body", "orelse", "finalbody"):
                if getattr(node, field, None):
                    setattr(node, field, self.block(getattr(node, field)) or code.statements("pass", node))
            for handler in getattr(node, "handlers", ()):
                handler.body = self.block(handler.body) or code.statements("pass", node)
            result.append(node)
        else:
            result.append(node)
        if self._returns is not None and self._returns.flag in jumps and not _always_returns([node]):
            self._returns.flag_is_read = True
        return jumps if not _always_returns([node]) else []

    def _jumps_of(self, body):
        jumps = []
        if self._returns is not None and _find(body, "Return", True):
            jumps.append(self._returns.flag)
        if self._breaks is not None and _find(body, "Break", False):
            jumps.append(self._breaks)
        if self._continues is not None and _find(body, "Continue", False):
            jumps.append(self._continues)
        return jumps

    def _loop(self, node, result):
        breaks = continues = None
        stops = []
        if "Break" in self._kinds and _find(node.body, "Break", False):
            breaks = self._namer.new_symbol("break_", ())
            result.append(code.statement(f"{breaks} = False", node))
            stops.append(breaks)
        if "Continue" in self._kinds and _find(node.body, "Continue", False):
            continues = self._namer.new_symbol("continue_", ())
        if self._returns is not None and _find(node.body, "Return", True):
            stops.append(self._returns.flag)
            self._returns.flag_is_read = True
        orelse = node.orelse
        body = _Loops(self._namer, self._returns, self._kinds, breaks, continues).block(node.body)
        if continues is not None:
            body.insert(0, code.statement(f"{continues} = False", node))
        node.body, node.stops = body or code.statements("pass", node), stops
        result.append(node)
        if orelse and "Break" not in self._kinds and _find(node.body, "Break", False):
            if stops:  # it cannot stand behind the loop, which is left by the break, too
                raise NotImplementedError("a loop with an else and both break and return: lower break first")
            node.orelse = self.block(orelse)
            return
        node.orelse = []
        if orelse:
            orelse = self.block(orelse)
            result.extend([_guarded(stops, orelse)] if stops else orelse)
