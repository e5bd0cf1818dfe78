"""Expressions cut up, so that each value in between has a name: a + b + c is tmp_1001 = a + b, tmp_1001 + c."""
import collections

import gast

from penstock._src.autograph.pyct import templates
from penstock._src.autograph.pyct import transformer

ANY = object()


def REPLACE(parent, field, child):  # noqa: N802
    """The child gets a name."""
    return True


def LEAVE(parent, field, child):  # noqa: N802
    """The child stays where it is."""
    return False


class ASTEdgePattern(collections.namedtuple("ASTEdgePattern", ["parent", "field", "child"])):
    """Which children of which nodes: classes of gast's (or tuples of them) and the field's name; ANY matches all."""
    __slots__ = ()

    def matches(self, parent, field, child):
        """Whether it means the node `child` in the field of `parent`."""
        return (self.parent is ANY or isinstance(parent, self.parent)) and self.field in (ANY, field) \
            and (self.child is ANY or isinstance(child, self.child))


class DummyGensym:
    """Names tmp_1001, tmp_1002, ..."""

    def __init__(self):
        self._last = 1000

    def new_name(self, stem="tmp"):
        """The next name."""
        self._last += 1
        return f"{stem}_{self._last}"


_OPERATORS = (gast.operator, gast.unaryop, gast.cmpop, gast.boolop, gast.expr_context)
_WRAPPERS = (gast.Starred, gast.withitem, gast.Slice)  # no values themselves; what is in them may be


class AnfTransformer(transformer.Base):
    """The rewriting. config: pairs of a pattern and whether (REPLACE, LEAVE, a function) what it means gets a name."""

    def __init__(self, ctx, config):
        super().__init__(ctx)
        self._rules = config if config is not None else [
            (ASTEdgePattern(ANY, ANY, (gast.Constant, gast.Name)), LEAVE),
            (ASTEdgePattern(ANY, ANY, gast.expr), REPLACE)]
        self._gensym = DummyGensym()
        self._before = []  # assignments that belong before the statement

    def _gets_a_name(self, parent, field, child):
        for pattern, decide in self._rules:
            if pattern is ANY or pattern.matches(parent, field, child):
                return decide(parent, field, child)
        return False

    def _named(self, parent, field, node):
        """A child, or the name that it gets."""
        if isinstance(node, list):
            return [self._named(parent, field, part) for part in node]
        if not isinstance(node, gast.AST) or isinstance(node, (gast.Name, *_OPERATORS)) or \
                isinstance(node, gast.Constant) and node.value is Ellipsis:
            return node
        if isinstance(node, gast.keyword):
            node.value = self._named(parent, field, node.value)
            return node
        if isinstance(node, _WRAPPERS):
            return self._name_children(node, parent, field)
        if not self._gets_a_name(parent, field, node):
            return node
        name = self._gensym.new_name()
        self._before.extend(templates.replace("name = value", name=name, value=node))
        return templates.replace_as_expression("name", name=name)

    def _name_children(self, node, parent=None, parents_field=None):
        for field in node._fields:
            if not field.startswith("__"):
                setattr(node, field, self._named(parent or node, parents_field or field, getattr(node, field, None)))
        return node

    def _with_before(self, node):
        """The assignments, and the statement."""
        made, self._before = [*self._before, node], []
        return made

    # Statements

    def _statement(self, node):
        return self._with_before(self._name_children(self.generic_visit(node)))

    visit_Return = visit_Raise = visit_Print = visit_Exec = _statement

    def _own_value(self, node):
        """A statement whose own expressions stay: only what is in them gets names."""
        return self._with_before(self.generic_visit(node))

    visit_Delete = visit_Assign = visit_AugAssign = visit_Expr = _own_value

    def _head(self, node, field):
        """A statement of which one field is computed before its blocks."""
        value = getattr(node, field)
        for part in value if isinstance(value, list) else [value]:
            self.visit(part)
        setattr(node, field, self._named(node, field, value))
        made, self._before = self._before, []
        return [*made, self.generic_visit(node)]

    def visit_For(self, node):
        return self._head(node, "iter")

    def visit_If(self, node):
        return self._head(node, "test")

    def visit_With(self, node):
        return self._head(node, "items")

    def visit_While(self, node):
        made = self._head(node, "test")
        if len(made) > 1:
            raise ValueError("While with nontrivial test not supported yet (its test would be computed once)")
        return made[0]

    # Expressions

    def _expression(self, node):
        return self._name_children(self.generic_visit(node))

    visit_BinOp = visit_UnaryOp = visit_Dict = visit_Set = visit_Yield = visit_Call = visit_Attribute = _expression
    visit_Subscript = _expression

    def _sequence(self, node):
        node = self.generic_visit(node)
        return node if isinstance(node.ctx, gast.Store) else self._name_children(node)

    visit_List = visit_Tuple = _sequence

    def visit_Compare(self, node):
        if len(node.ops) > 1:
            raise ValueError("Multi-ary compare nodes not supported yet (the last operands may not be computed)")
        return self._expression(node)

    def _only_trivial(self, node):
        """What may not be computed, or not once, or not before: nothing in it may need a name."""
        known = len(self._before)
        node = self._name_children(self.generic_visit(node))
        if len(self._before) != known:
            raise ValueError(f"Nontrivial {type(node).__name__} nodes not supported yet (parts of it would be computed "
                             "before it)")
        return node

    visit_AsyncFor = visit_AsyncWith = visit_Assert = visit_BoolOp = visit_Lambda = visit_IfExp = _only_trivial
    visit_Await = visit_YieldFrom = visit_Repr = visit_FormattedValue = visit_JoinedStr = _only_trivial

    def _refused(self, node):
        raise ValueError(f"{type(node).__name__} nodes not supported (parts of it are computed many times)")

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _refused


def transform(node, ctx, config=None):
    """A tree in A-normal form. ctx: a transformer.Context.

    config: pairs (pattern, decision), of which the first that matches counts; an expression that none matches stays. A
    pattern is an ASTEdgePattern or ANY, a decision REPLACE, LEAVE or a function of (parent, field, child). Without it
    all expressions but constants get names. Names, what is assigned to or deleted, and a statement's whole value stay.
    ValueError if a name would change when, or how often, something is computed.
    """
    return AnfTransformer(ctx, config).visit(node)
