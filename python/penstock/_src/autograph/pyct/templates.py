"""Code from text with gaps, which nodes are put into."""
import ast
import textwrap

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import ast_util
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import qual_names

# Notes that nodes keep when they are put into a gap.
_KEPT = frozenset((anno.Basic.DIRECTIVES, anno.Basic.EXTRA_LOOP_TEST, anno.Basic.ORIGIN, anno.Basic.SKIP_PROCESSING,
                   anno.Static.ORIG_DEFINITIONS, "function_context_name"))


class ContextAdjuster(gast.NodeTransformer):
    """Gives an expression the context (load, store) of where it stands; what it is an element or attribute of is read.

    Within calls, dicts, comprehensions and lambdas contexts stay as they are.
    """

    def __init__(self, override_value):
        self._context = override_value

    def visit(self, node):
        before = self._context
        node = super().visit(node)
        assert getattr(node, "ctx", node) is not None, f"{node} has no context"
        self._context = before
        return node

    def _apply(self, node):
        if self._context is not None:
            node.ctx = self._context()

    def visit_Name(self, node):
        self._apply(node)
        return self.generic_visit(node)

    visit_Tuple = visit_List = visit_Name

    def visit_Attribute(self, node):
        self._apply(node)
        self._context = gast.Load
        return self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def visit_Call(self, node):
        self._context = None
        return self.generic_visit(node)

    visit_Dict = visit_comprehension = visit_Lambda = visit_Call


class ReplaceTransformer(gast.NodeTransformer):
    """Puts nodes where their names stand. replacements: name -> node or nodes."""

    def __init__(self, replacements):
        self.replacements = replacements

    def _copies(self, name):
        made = ast_util.copy_clean(self.replacements[name], preserve_annos=_KEPT)
        return [made] if isinstance(made, ast.AST) else made

    def visit_Expr(self, node):
        value = self.visit(node.value)
        return node if value is node.value else value  # a statement stands for itself

    def visit_keyword(self, node):
        if node.arg not in self.replacements:
            return self.generic_visit(node)
        found = self._copies(node.arg)
        if not isinstance(found, (list, tuple)) or not found or not all(isinstance(k, gast.keyword) for k in found):
            raise ValueError(f"the keyword {node.arg} is replaced by keywords only, not by {found}")
        return found

    def _identifier(self, name, what):
        found = self.replacements.get(name)
        if found is None:
            return name
        if type(found).__name__ != "Name":
            raise ValueError(f"{what} is replaced by a Name only, not by {found}")
        return found.id

    def visit_FunctionDef(self, node):
        node = self.generic_visit(node)
        node.name = self._identifier(node.name, "the name of a function")
        return node

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        node.attr = self._identifier(node.attr, "an attribute")
        return node

    def visit_Name(self, node):
        if node.id not in self.replacements:
            return node
        found = self._copies(node.id)
        adjuster = ContextAdjuster(type(node.ctx))
        for part in found or ():
            if hasattr(part, "ctx"):
                adjuster.visit(part)
        return found[0] if found and len(found) == 1 else found


def _as_nodes(value):
    """Strings and QNs as nodes without context, which they get where they are put."""
    if isinstance(value, str):
        return gast.Name(id=value, ctx=None, annotation=None, type_comment=None)
    if isinstance(value, qual_names.QN):
        return value.ast()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_as_nodes, value))
    return value


def replace(template, **replacements):
    """A list of statements: code with nodes put where the names of `replacements` stand.

    Values: nodes, lists of nodes (statements or arguments), strings and QNs, which are names. A name, tuple, attribute
    or element gets the context of its place; those inside of other expressions must have theirs. ValueError if what
    is given cannot stand there.
    """
    if not isinstance(template, str):
        raise ValueError(f"a template is a string, not {type(template)}")
    transformer = ReplaceTransformer({name: _as_nodes(value) for name, value in replacements.items()})
    results = []
    for node in parser.parse(textwrap.dedent(template), single_node=False):
        node = transformer.visit(node)
        results.extend(node if isinstance(node, (list, tuple)) else [node])
    return [qual_names.resolve(node) for node in results]


def replace_as_expression(template, **replacements):
    """An expression made as `replace` makes statements. ValueError if it is none."""
    found = replace(template, **replacements)
    if len(found) != 1:
        raise ValueError("a template of one expression was expected; other code goes through replace")
    if isinstance(found[0], gast.Expr):
        return found[0].value
    if isinstance(found[0], (gast.Name, gast.expr)):
        return found[0]
    raise ValueError(f"the template is no expression, but {found[0]}")
