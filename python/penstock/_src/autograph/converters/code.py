"""Pieces of syntax trees: written as text, or put where another piece stands.

What is made is of the kind of the node whose place it takes: Python's own (ast), or gast's in trees of programs.
"""
import ast

from penstock._src.autograph.pyct import anno


def _made(text, old):
    """The statements of a text, all at the place of an old node."""
    if not type(old).__module__.startswith("gast"):
        return _placed(ast.parse(text), old).body
    import gast
    tree = gast.parse(text)
    origin = anno.Basic.ORIGIN.of(old)
    for child in ast.walk(tree) if origin is not None else ():
        anno.setanno(child, anno.Basic.ORIGIN, origin)
    return (tree if getattr(old, "lineno", None) is None else _placed(tree, old)).body


def at(new, old):
    """A new node with the place of an old one."""
    ast.copy_location(new, old)
    for child in ast.walk(new):
        if hasattr(child, "lineno") or isinstance(child, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.excepthandler)):
            if not hasattr(child, "lineno"):
                ast.copy_location(child, old)
    return new


def _placed(tree, old):
    """A tree at the place of an old node; if that has several lines at its first one, of which tracebacks speak."""
    one_line = getattr(old, "end_lineno", old.lineno) == old.lineno
    for child in ast.walk(tree):
        if isinstance(child, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.excepthandler, ast.alias)):
            child.lineno, child.col_offset = old.lineno, old.col_offset
            child.end_lineno = old.lineno
            child.end_col_offset = getattr(old, "end_col_offset", old.col_offset) if one_line else old.col_offset
    return tree


def statements(text, old):
    """Statements written as text, all at the place of an old node."""
    return _made(text, old)


def statement(text, old):
    """One statement."""
    return statements(text, old)[0]


def expression(text, old):
    """An expression."""
    return _made(text, old)[0].value


def text_of(node):
    """An expression as text, for messages."""
    try:
        return ast.unparse(node)
    except Exception:  # a tree that no source can say
        return "expression"
