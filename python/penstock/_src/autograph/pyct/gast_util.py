"""Nodes whose constructors differ between the versions of gast."""
import functools

import gast

GAST2 = hasattr(gast, "Str")
GAST3 = not GAST2

Module = functools.partial(gast.Module, type_ignores=[])
Name = functools.partial(gast.Name, type_comment=None)
Str = functools.partial(gast.Constant, kind=None)


def is_constant(node):
    """Whether a node is a constant."""
    return isinstance(node, gast.Constant)


def is_literal(node):
    """Whether a node is a constant, or a name that once was one."""
    return is_constant(node) or isinstance(node, gast.Name) and node.id in ("True", "False", "None")


def is_ellipsis(node):
    """Whether a node is `...`."""
    return is_constant(node) and node.value is Ellipsis
