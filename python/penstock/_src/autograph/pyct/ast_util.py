"""Copying, renaming, matching and walking syntax trees."""
import ast

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import qual_names


class CleanCopier:
    """Copies trees without notes but those whose keys are in `preserve_annos`."""

    def __init__(self, preserve_annos):
        self.preserve_annos = preserve_annos

    def copy(self, node):
        """A copy of a node, or of lists of nodes; other values are kept as they are."""
        if isinstance(node, (list, tuple)):
            return type(node)(self.copy(part) for part in node)
        if not isinstance(node, ast.AST):
            return node
        made = type(node)(**{field: self.copy(getattr(node, field)) for field in node._fields
                             if not field.startswith("__") and hasattr(node, field)})
        for key in self.preserve_annos or ():
            anno.copyanno(node, made, key)
        return made


def copy_clean(node, preserve_annos=None):
    """A copy of a tree with no notes but those of the keys `preserve_annos`."""
    return CleanCopier(preserve_annos).copy(node)


class SymbolRenamer(gast.NodeTransformer):
    """Gives names other names. name_map: QN -> the new, simple one."""

    def __init__(self, name_map):
        self.name_map = name_map

    def _name(self, node):
        found = anno.getanno(node, anno.Basic.QN)
        if found not in self.name_map:
            return self.generic_visit(node)
        made = gast.Name(str(self.name_map[found]), ctx=node.ctx, annotation=None, type_comment=None)
        for key in anno.keys(node):
            anno.copyanno(node, made, key)
        return made

    def _string(self, name):
        return str(self.name_map.get(qual_names.QN(name), name))

    def visit_Name(self, node):
        return self._name(node)

    def visit_Attribute(self, node):
        return self._name(node) if anno.hasanno(node, anno.Basic.QN) else self.generic_visit(node)

    def visit_Nonlocal(self, node):
        node.names = [self._string(name) for name in node.names]
        return node

    visit_Global = visit_Nonlocal

    def visit_FunctionDef(self, node):
        node.name = self._string(node.name)
        return self.generic_visit(node)


def rename_symbols(node, name_map):
    """A tree, or several, with other names. The names must have been resolved (qual_names.resolve)."""
    renamer = SymbolRenamer(name_map)
    if isinstance(node, (list, tuple)):
        return type(node)(renamer.visit(part) for part in node)
    return renamer.visit(node)


def keywords_to_dict(keywords):
    """A call's keywords as the node of a dict."""
    return gast.Dict(keys=[gast.Constant(k.arg, kind=None) for k in keywords], values=[k.value for k in keywords])


def _is_wildcard(pattern):
    if isinstance(pattern, (list, tuple)) and len(pattern) == 1:
        pattern = pattern[0]
    return pattern == "_" or isinstance(pattern, gast.Name) and pattern.id == "_"


def _matches(node, pattern):
    for field in node._fields:
        if field.startswith("__"):
            continue
        if not hasattr(node, field):
            if getattr(pattern, field, None):
                return False
            continue
        if not hasattr(pattern, field):
            return False
        value, wanted = getattr(node, field), getattr(pattern, field)
        if _is_wildcard(wanted):
            continue
        if isinstance(value, (list, tuple)):
            if not isinstance(wanted, (list, tuple)) or len(value) != len(wanted):
                return False
            pairs = list(zip(value, wanted))
        else:
            pairs = [(value, wanted)]
        for one, other in pairs:
            if not isinstance(one, ast.AST):
                if one != other:
                    return False
            elif not isinstance(one, type(other)) and not isinstance(other, type(one)) or not _matches(one, other):
                return False
    return True


def matches(node, pattern):
    """Whether a tree is that of a pattern, code or a node, in which the name `_` stands for anything."""
    return _matches(node, parser.parse_expression(pattern) if isinstance(pattern, str) else pattern)


def apply_to_single_assignments(targets, values, apply_fn):
    """Calls apply_fn(target, value) for each single assignment of `targets = values`, tuples taken apart.

    What is no tuple is taken apart by its elements: a, b = c is (a, c[0]), (b, c[1]).
    """
    for target in targets if isinstance(targets, (list, tuple)) else (targets,):
        if not isinstance(target, (gast.Tuple, gast.List)):
            apply_fn(target, values)
            continue
        for i, part in enumerate(target.elts):
            if isinstance(values, (gast.Tuple, gast.List)):
                value = values.elts[i]
            else:
                value = gast.Subscript(values, gast.Constant(i, kind=None), ctx=gast.Load())
            apply_to_single_assignments(part, value, apply_fn)


def parallel_walk(node, other):
    """Pairs of nodes (or names, or None) at the same places of two trees, or two lists of trees.

    ValueError if the trees are not the same.
    """
    def listed(trees):
        return list(trees) if isinstance(trees, (list, tuple)) else [trees]

    ones, others = listed(node), listed(other)
    while ones and others:
        one, two = ones.pop(), others.pop()
        if not all(part is None or isinstance(part, (ast.AST, str)) for part in (one, two)) \
                or type(one).__name__ != type(two).__name__:
            raise ValueError(f"inconsistent nodes: {one} ({type(one).__name__}) and {two} ({type(two).__name__})")
        yield one, two
        for field in () if one is None or isinstance(one, str) else one._fields:
            a, b = getattr(one, field, None), getattr(two, field, None)
            if field.startswith("__") or a is None or b is None:
                continue
            if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
                ones.extend(a)
                others.extend(b)
            elif isinstance(a, ast.AST):
                ones.append(a)
                others.append(b)
            elif a != b:
                raise ValueError(f"inconsistent values of the field {field}: {a} and {b}")
