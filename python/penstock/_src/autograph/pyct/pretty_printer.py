"""Syntax trees as text, one node or field a line."""
import ast

_COLORS = {"field": "\033[34m", "value": "\033[35m", "unset": "\033[31m", "type": "\033[1m", "indent": "\033[2m"}


class PrettyPrinter(ast.NodeVisitor):
    """Collects the text in `result`. color: with the colours of a terminal; noanno: without notes."""

    def __init__(self, color, noanno):
        self.indent_lvl = 0
        self.result = ""
        self.color = color
        self.noanno = noanno

    def _styled(self, text, kind):
        return f"{_COLORS[kind]}{text}\033[0m" if self.color and text else str(text)

    def _print(self, text):
        self.result += self._styled("| " * self.indent_lvl, "indent") + text + "\n"

    def generic_visit(self, node, name=None):
        begin = self._styled(name, "field") + "=" if name else ""
        if not isinstance(node, ast.AST):
            self._print(f'{begin}"{node}"' if isinstance(node, str) else f"{begin}{node}")
            return
        self._print(begin + self._styled(type(node).__name__, "type") + (":" if node._fields else "()"))
        self.indent_lvl += 1
        for field in node._fields:
            if not (self.noanno and field.startswith("__")):
                self._field(node, field)
        self.indent_lvl -= 1

    def _field(self, node, field):
        begin = self._styled(field, "field") + "="
        value = getattr(node, field, PrettyPrinter)
        if value is PrettyPrinter:
            self._print(self._styled(field + "=<unset>", "unset"))
        elif isinstance(value, ast.AST):
            self.generic_visit(value, field)
        elif isinstance(value, (list, tuple)):
            left, right = "[]" if isinstance(value, list) else "()"
            if not value:
                self._print(begin + left + right)
                return
            self._print(begin + left)
            self.indent_lvl += 1
            for part in value:
                self.generic_visit(part)
            self.indent_lvl -= 1
            self._print(right)
        else:
            shown = {str: f'u"{value}"', bytes: f'b"{value}"'}.get(type(value), value)
            self._print(begin + self._styled(shown, "value"))


def fmt(node, color=True, noanno=False):
    """A node, or a list of nodes, as text."""
    printer = PrettyPrinter(color, noanno)
    for part in node if isinstance(node, (list, tuple)) else (node,):
        printer.visit(part)
    return printer.result
