"""What programs derive their own rewriting of code from."""
import collections
import enum

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import ast_util
from penstock._src.autograph.pyct import parser
from penstock._src.autograph.pyct import pretty_printer
from penstock._src.autograph.pyct import templates


class AnalysisLevel(enum.IntEnum):
    """How much is known of the code."""
    NONE = 0
    ACTIVITY = 1
    DEFINEDNESS = 2
    LIVENESS = 3


class Context:
    """What is known while a function is rewritten.

    info: its EntityInfo. namer: gives new names. current_origin: where the node came from that is worked at. user: what
    the caller of the transpiler gave.
    """

    def __init__(self, info, namer, user_context):
        self.info = info
        self.namer = namer
        self.current_origin = None
        self.user = user_context


class EntityInfo(collections.namedtuple("EntityInfo", (
        "name", "source_code", "source_file", "future_features", "namespace"))):
    """A function that is rewritten; namespace: name -> value of what it sees around it."""


class _StateStack:
    """A stack of objects of a class. Attributes are those of the one on top; `with` puts a new one there."""

    def __init__(self, type_):
        self.__dict__.update(type=type_, stack=[])
        if not hasattr(type_, "no_root"):
            self.enter()

    def enter(self):
        self.stack.append(self.type())

    def exit(self):
        self.stack.pop()

    def __enter__(self):
        self.enter()
        return self

    def __exit__(self, *exc):
        self.exit()

    @property
    def level(self):
        return len(self.stack)

    @property
    def value(self):
        return self.stack[-1]

    def __iter__(self):
        return iter(self.stack)

    def __getattr__(self, key):
        return getattr(self.stack[-1], key)

    def __setattr__(self, key, value):
        setattr(self.stack[-1], key, value)


class _State:
    """state[Class]: the stack of that class, made on first use."""

    def __init__(self):
        self._stacks = {}

    def __getitem__(self, key):
        if key not in self._stacks:
            self._stacks[key] = _StateStack(key)
        return self._stacks[key]


class NodeStateTracker:
    """Mixed into visitors: state for the nodes around the one that is visited.

    `self.state[Class]` is a stack of objects of any class. Who visits a node enters, and exits afterwards (or uses
    `with`); attributes of `self.state[Class]` are those of the innermost object.
    """

    def __init__(self, ctx):
        self._lineno = 0
        self._col_offset = 0
        self.ctx = ctx
        self.state = _State()

    def debug_print(self, node):
        """Prints a node, and returns it."""
        print(pretty_printer.fmt(node))
        return node

    def debug_print_src(self, node):
        """Prints a node's code, and returns it."""
        print(parser.unparse(node))
        return node

    def visit_block(self, nodes, before_visit=None, after_visit=None):
        """The statements that some statements become.

        before_visit() is called before each. after_visit(what a statement became) returns (what it is to be, None or
        the list that the statements behind it go to).
        """
        if nodes is None:
            return None
        results = into = []
        for node in nodes:
            if before_visit:
                before_visit()
            made, behind = self.visit(node), None
            if after_visit and made:
                made, behind = after_visit(made)
            if made:
                into.extend(made if isinstance(made, (list, tuple)) else (made,))
            if behind is not None:
                into = behind
        return results


class Base(NodeStateTracker, gast.NodeTransformer):
    """Rewrites code as ast.NodeTransformer does. New nodes get the origin of those that they replace."""

    def create_assignment(self, target, expression):
        """target = expression, as a list of statements."""
        return templates.replace("target = expression", target=target, expression=expression)

    def apply_to_single_assignments(self, targets, values, apply_fn):
        """ast_util.apply_to_single_assignments."""
        ast_util.apply_to_single_assignments(targets, values, apply_fn)

    def visit(self, node):
        """What a node becomes. ValueError if it is none: visit_block is for lists."""
        if not isinstance(node, gast.AST):
            raise ValueError(f'invalid value for "node": expected "ast.AST", got "{type(node)}"; to visit lists of '
                             'nodes, use "visit_block" instead')
        if anno.hasanno(node, anno.Basic.SKIP_PROCESSING):
            return node
        around = self.ctx.current_origin
        origin = self.ctx.current_origin = anno.Basic.ORIGIN.of(node, default=around)
        value = getattr(node, "value", None)
        try:
            result = super().visit(node)
        finally:
            self.ctx.current_origin = around
        if isinstance(node, gast.Expr) and isinstance(result, gast.Expr) and result.value is not value \
                and isinstance(result.value, (list, tuple, gast.Assign, gast.AugAssign)):
            result = result.value  # statements stand for themselves
        if result is not node and result is not None and origin is not None:
            for made in result if isinstance(result, (list, tuple)) else (result,):
                if not anno.hasanno(made, anno.Basic.ORIGIN):
                    anno.setanno(made, anno.Basic.ORIGIN, origin)
        return result


class CodeGenerator(NodeStateTracker, gast.NodeVisitor):
    """Makes text of code: its visit_* methods `emit` pieces, which `code_buffer` holds.

    source_map: (begin, end) of a piece -> its OriginInfo.
    """

    def __init__(self, ctx):
        super().__init__(ctx)
        self.code_buffer = ""
        self.source_map = {}

    def emit(self, code):
        """Appends a piece."""
        self.code_buffer += code

    def visit(self, node):
        if anno.hasanno(node, anno.Basic.SKIP_PROCESSING):
            return None
        around, begin = self.ctx.current_origin, len(self.code_buffer)
        origin = self.ctx.current_origin = anno.Basic.ORIGIN.of(node, default=around)
        try:
            result = super().visit(node)
            if len(self.code_buffer) != begin and origin is not None:
                self.source_map[begin, len(self.code_buffer)] = origin
            return result
        finally:
            self.ctx.current_origin = around
