"""Names of what is more than a variable: a.b, a[i], a.b[c].d."""
import ast
import collections

from penstock._src.autograph.pyct import anno


class CallerMustSetThis:
    """Stands for the context (load, store) of nodes that QN.ast makes: who puts them into a tree knows it."""


class Symbol(collections.namedtuple("Symbol", ["name"])):
    """A variable."""


class Literal(collections.namedtuple("Literal", ["value"])):
    """A number or string between brackets."""

    def __str__(self):
        return f"'{self.value}'" if isinstance(self.value, str) else str(self.value)

    __repr__ = __str__


class QN:
    """A qualified name: a variable or Literal (`base` alone), or an attribute or element of another QN. Immutable.

    ValueError if `base` is of another kind, or both `attr` and `subscript` are there.
    """

    __slots__ = ("qn", "_has_attr", "_has_subscript", "_hash")

    def __init__(self, base, attr=None, subscript=None):
        if attr is not None and subscript is not None:
            raise ValueError(f"a name is an attribute or an element, not both: attr={attr}, subscript={subscript}")
        self._has_attr, self._has_subscript = attr is not None, subscript is not None
        if attr is None and subscript is None:
            if not isinstance(base, (str, Literal)):
                raise ValueError(f"a simple name is a string or Literal, not {base!r}")
            assert not isinstance(base, str) or not any(mark in base for mark in ".[]"), base
            self.qn = (base,)
        else:
            if not isinstance(base, QN):
                raise ValueError(f"an attribute or element is one of a QN, not of {base!r}")
            if attr is not None and not isinstance(attr, str):
                raise ValueError(f"an attribute's name is a string, not {attr!r}")
            self.qn = (base, subscript if attr is None else attr)
        self._hash = hash((self.qn, self._has_attr, self._has_subscript))

    def is_symbol(self):
        """Whether it begins with a string: it is a variable."""
        return isinstance(self.qn[0], str)

    def is_simple(self):
        """Whether it is no attribute or element."""
        return len(self.qn) == 1

    def is_composite(self):
        """Whether it is an attribute or element."""
        return len(self.qn) > 1

    def has_subscript(self):
        """Whether it is an element."""
        return self._has_subscript

    def has_attr(self):
        """Whether it is an attribute."""
        return self._has_attr

    @property
    def attr(self):
        """The attribute's own name. ValueError if it is none."""
        if not self._has_attr:
            raise ValueError(f'"{self}" is no attribute')
        return self.qn[1]

    @property
    def parent(self):
        """What it is an attribute or element of. ValueError of simple names."""
        if self.is_simple():
            raise ValueError(f'"{self}" is part of nothing')
        return self.qn[0]

    @property
    def owner_set(self):
        """What it is part of: a.b and a, for a.b[c.d]."""
        return set() if self.is_simple() else {self.parent} | self.parent.owner_set

    @property
    def support_set(self):
        """The simple names that it is made of: a and i, for a.b[i]."""
        if self.is_simple():
            return {self}
        index = self.qn[1].support_set if self._has_subscript and isinstance(self.qn[1], QN) else set()
        return self.parent.support_set | index

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self is other or isinstance(other, QN) and self._hash == other._hash and self.qn == other.qn \
            and self._has_attr == other._has_attr and self._has_subscript == other._has_subscript

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)

    def __str__(self):
        if self._has_subscript:
            return f"{self.qn[0]}[{self.qn[1]}]"
        return ".".join(map(str, self.qn))

    __repr__ = __str__

    def ssf(self):
        """One identifier made of its parts: a_b_sub_i."""
        between = "_sub_" if self._has_subscript else "_"
        return between.join(part.ssf() if isinstance(part, QN) else str(part) for part in self.qn)

    def ast(self):
        """The expression, as a gast node; contexts are CallerMustSetThis."""
        import gast
        if self._has_subscript:
            return gast.Subscript(value=self.parent.ast(), slice=self.qn[1].ast(), ctx=CallerMustSetThis)
        if self._has_attr:
            return gast.Attribute(value=self.parent.ast(), attr=self.qn[1], ctx=CallerMustSetThis)
        if isinstance(self.qn[0], Literal):
            return gast.Constant(self.qn[0].value, kind=None)
        return gast.Name(self.qn[0], ctx=CallerMustSetThis, annotation=None, type_comment=None)


class QnResolver(ast.NodeTransformer):
    """Writes anno.Basic.QN on what has a qualified name."""

    def visit_Name(self, node):
        node = self.generic_visit(node)
        anno.setanno(node, anno.Basic.QN, QN(node.id))
        return node

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        owner = anno.Basic.QN.of(node.value)
        if owner is not None:
            anno.setanno(node, anno.Basic.QN, QN(owner, attr=node.attr))
        return node

    def visit_Subscript(self, node):
        node = self.generic_visit(node)
        owner, index = anno.Basic.QN.of(node.value), anno.Basic.QN.of(node.slice)
        if type(node.slice).__name__ == "Constant" and node.slice.value is not Ellipsis:
            index = QN(Literal(node.slice.value))
        if owner is not None and index is not None:
            anno.setanno(node, anno.Basic.QN, QN(owner, subscript=index))
        return node


def resolve(node):
    """Writes the names of all expressions of a tree on them, and returns it."""
    return QnResolver().visit(node)


def from_str(qn_str):
    """The QN of a piece of code."""
    return anno.getanno(resolve(ast.parse(qn_str.strip(), mode="eval").body), anno.Basic.QN)
