"""Where rewritten code came from."""
import collections
import inspect
import io
import os
import tokenize

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import ast_util
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import pretty_printer


class LineLocation(collections.namedtuple("LineLocation", ("filename", "lineno"))):
    """A line of a file; the first is 1."""


class Location(collections.namedtuple("Location", ("filename", "lineno", "col_offset"))):
    """A place in a file; the first line is 1, the first column 0."""

    @property
    def line_loc(self):
        """Its line."""
        return LineLocation(self.filename, self.lineno)


class OriginInfo(collections.namedtuple("OriginInfo", ("loc", "function_name", "source_code_line", "comment"))):
    """The place (Location) of a node, the function around it or None, its line, and the comment there or None."""

    def as_frame(self):
        """(file, line, function, text), as a traceback has them."""
        return self.loc.filename, self.loc.lineno, self.function_name, self.source_code_line

    def __repr__(self):
        name = os.path.split(self.loc.filename)[1] if self.loc.filename else "<no file>"
        return f"{name}:{self.loc.lineno}:{self.loc.col_offset}"


def create_source_map(nodes, code, filepath):
    """LineLocation in a file -> OriginInfo of the node there.

    nodes: trees with notes of their origin. code: what is in the file, made of them. ValueError if it is not.
    """
    read = parser.parse(code, single_node=False)
    for node in read:
        resolve(node, code, filepath, node.lineno, node.col_offset)
    source_map = {}
    try:
        for before, after in ast_util.parallel_walk(nodes, read):
            origin = None if before is None or isinstance(before, str) else anno.Basic.ORIGIN.of(before)
            place = None if after is None or isinstance(after, str) else anno.Basic.ORIGIN.of(after)
            if origin is None or place is None:
                continue
            line = place.loc.line_loc
            known = source_map.get(line)
            # Of several nodes on a line, the leftmost names it.
            if known is None or known.loc.line_loc != origin.loc.line_loc and \
                    known.loc.col_offset > origin.loc.col_offset:
                source_map[line] = origin
    except ValueError as e:
        trees = "\n".join(pretty_printer.fmt(list(t) if isinstance(t, (list, tuple)) else t, color=False, noanno=True)
                          for t in (nodes, read))
        raise ValueError(f"the code is not that of the trees: {e}\n{trees}") from e
    return source_map


class OriginResolver(gast.NodeVisitor):
    """Writes OriginInfo on nodes.

    source_lines, comments_map: of what they were read from; context_*: where that
    stands.
    """

    def __init__(self, root_node, source_lines, comments_map, context_lineno, context_col_offset, filepath):
        decorators = getattr(root_node, "decorator_list", None)
        first = decorators[0] if decorators and hasattr(decorators[0], "lineno") else root_node
        self._lines, self._comments, self._file = source_lines, comments_map, filepath
        self._down = context_lineno - first.lineno
        self._right = context_col_offset - root_node.col_offset
        self._functions = []

    def visit(self, node):
        function = isinstance(node, gast.FunctionDef)
        if function:
            self._functions.append(node.name)
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        if line is not None:
            place = Location(self._file, line + self._down, 0 if column is None else column + self._right)
            anno.setanno(node, "lineno", line)
            anno.setanno(node, anno.Basic.ORIGIN, OriginInfo(
                place, self._functions[-1] if self._functions else None, self._lines[line - 1],
                self._comments.get(line)))
        self.generic_visit(node)
        if function:
            self._functions.pop()


def resolve(node, source, context_filepath, context_lineno, context_col_offset):
    """Writes on all nodes of a tree where they came from.

    source: what the tree was read from, which stands in the file `context_filepath` at that line and column.
    """
    comments = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = token.string.strip()[1:].strip()
    except (tokenize.TokenError, IndentationError):
        if not isinstance(node, gast.Lambda):  # which may be cut out of something incomplete
            raise
    OriginResolver(node, source.split("\n"), comments, context_lineno, context_col_offset,
                   context_filepath).visit(node)


def resolve_entity(node, source, entity):
    """`resolve`, where the place is that of a function."""
    code = getattr(entity, "__code__", entity)
    lines, first = inspect.getsourcelines(code)
    resolve(node, source, inspect.getsourcefile(code), first, len(lines[0]) - len(lines[0].lstrip()))


def copy_origin(from_node, to_node):
    """Gives all nodes of a tree, or of several, the origin of a node, if that has one."""
    origin = anno.Basic.ORIGIN.of(from_node)
    if origin is None:
        return
    for root in to_node if isinstance(to_node, (list, tuple)) else (to_node,):
        for node in gast.walk(root):
            anno.setanno(node, anno.Basic.ORIGIN, origin)
